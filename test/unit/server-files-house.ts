// An environment with server files in a temporary folder, and what the service reads from it.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FoundServers, ServerConfig } from '../../src/tools/servers/server-config.ts'
import { createServerFiles } from '../../src/tools/servers/server-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface EnvironmentFiles {
  /** By path below the environment's folder; what is not text is written as JSON. */
  files?: Record<string, unknown>
  variables?: Record<string, string>
  builtIn?: Record<string, string>
}

interface ReadEnvironment extends FoundServers {
  /** The environment's folder, which is gone by now. */
  folder: string
}

export async function readEnvironment(given: EnvironmentFiles): Promise<ReadEnvironment> {
  await using root = await temporaryFolder()
  const folder = join(root.path, 'default')
  await mkdir(folder)
  for (const [name, content] of Object.entries(given.files ?? {})) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const { read } = createServerFiles({ root: root.path, variables: {}, builtIn: {}, ...given })
  return { ...(await read('default')), folder }
}

/** Reads one entry, called `it`, as the file a.json has it. */
export async function readEntry(entry: unknown, { files, ...given }: EnvironmentFiles = {}) {
  const found = await readEnvironment({ ...given, files: { ...files, 'a.json': { mcpServers: { it: entry } } } })
  const [server] = found.servers
  return {
    ...found,
    server,
    shown: server?.shown,
    config: server && 'target' in server.config ? server.config : undefined,
    problem: server && 'problem' in server.config ? server.config.problem : undefined,
    message: found.errors[0]?.message,
  }
}

/** For tests that are about what is ready to connect. */
export async function readConfig(entry: unknown, given: EnvironmentFiles = {}): Promise<ServerConfig> {
  const { config, problem, message } = await readEntry(entry, given)
  if (!config) throw new Error(`not ready to connect: ${problem ?? message}`)
  return config
}
