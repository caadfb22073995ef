/** The MCP servers of an environment: every `*.json` of its folder, with the variables of the environment. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { environmentName } from '../../contract/environment.ts'
import { inside, reason } from '../../safe-files.ts'
import { type Surroundings, toServer } from './found-server.ts'
import { type ReadFile, readFileBelow } from './read-file-below.ts'
import { fileSecrets } from './resolve.ts'
import { createMask, type Mask } from './secrets/mask.ts'
import type { FoundServer, FoundServers, ReadServers } from './server-config.ts'
import { parseServerFile } from './server-file-text.ts'
import { readVariables } from './variables/variables.ts'

interface ServerFilesParts {
  /** The environments folder. */
  readonly root: string
  /** Of the process. */
  readonly variables: Readonly<Record<string, string>>
  /** Filled in by the service itself, and no secret. */
  readonly builtIn: Readonly<Record<string, string>>
}

type ReadingError = FoundServers['errors'][number]

/** Files are read a few at a time: a process may not have thousands of them open. */
const READ_TOGETHER = 32
/** What the folder of a server's own program may have beside them. */
const OTHERS: ReadonlySet<string> = new Set(['package.json', 'package-lock.json', 'tsconfig.json'])

export function createServerFiles({ root, variables, builtIn }: ServerFilesParts): { read: ReadServers } {
  /** As the files were last read: a server that has not changed since masks what has become a secret, too. */
  const masks = new Map<string, Mask>()
  return {
    async read(environment) {
      if (!environmentName.safeParse(environment).success) return only({ file: environment, message: NO_ENVIRONMENT })
      const names = await serverFiles(root, environment)
      if (!Array.isArray(names)) return only(names)
      const found = await readVariables({ root, environment, builtIn, process: variables })
      const files = await readAll(root, names)
      if (found.errors.length === 0) masks.set(environment, createMask(fileSecrets(found.inFile)))
      const mask: Mask = (text) => masks.get(environment)?.(text) ?? text
      const around = { environment, folder: join(root, environment), variables: found, mask }
      const { servers, errors } = collect(files, around)
      return { servers, errors: [...found.errors, ...errors] }
    },
  }
}

const NO_ENVIRONMENT = 'is not the name of an environment'

const only = (error: ReadingError): FoundServers => ({ servers: [], errors: [error] })

/** Paths below the root. */
async function serverFiles(root: string, environment: string): Promise<string[] | ReadingError> {
  try {
    const names = await readdir(await inside(root, join(root, environment)))
    const found = names.filter((name) => name.endsWith('.json') && !name.startsWith('.') && !OTHERS.has(name))
    return found.sort().map((name) => join(environment, name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { file: environment, message: code === 'ENOENT' ? 'the folder is missing' : reason(error as Error) }
  }
}

async function readAll(root: string, names: readonly string[]): Promise<ReadFile[]> {
  const files: ReadFile[] = []
  for (let start = 0; start < names.length; start += READ_TOGETHER) {
    const together = names.slice(start, start + READ_TOGETHER)
    files.push(...(await Promise.all(together.map((file) => readFileBelow(root, file)))))
  }
  return files
}

/** One wrong file, or one wrong entry, leaves the others alone. */
function collect(files: readonly ReadFile[], around: Surroundings): { servers: FoundServer[]; errors: ReadingError[] } {
  const servers: FoundServer[] = []
  const errors: ReadingError[] = []
  const entries: { file: string; name: string; value: unknown }[] = []
  for (const read of files) {
    if ('error' in read) errors.push({ file: read.file, message: read.error })
    else {
      const parsed = parseServerFile(read.text)
      entries.push(...parsed.entries.map((entry) => ({ file: read.file, ...entry })))
      errors.push(...parsed.errors.map((error) => ({ file: read.file, ...error })))
    }
  }
  for (const [name, [entry, ...others]] of Map.groupBy(entries, (one) => one.name)) {
    if (!entry) continue
    const server = others.length > 0 ? inSeveral([entry, ...others]) : toServer(entry, around)
    if (typeof server === 'string') errors.push({ file: entry.file, server: name, message: server })
    else servers.push(server)
  }
  return { servers, errors }
}

/** Nobody can tell which one is meant. */
const inSeveral = (entries: readonly { file: string }[]) =>
  `the server is in ${new Intl.ListFormat('en').format(entries.map(({ file }) => file))}: keep one of them`
