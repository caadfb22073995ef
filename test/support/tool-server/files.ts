// Tool servers of an environment for the tests: their files, and what they did.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))

/** Something with an environments folder of its own. */
interface Home {
  home: string
}

export interface ToolServer {
  /** What to put under `mcpServers` for it. */
  entry: { command: string; args: string[] }
  /** Changes the tools that it lists. */
  offers(...tools: (string | { name: string; description?: string; annotations?: object })[]): Promise<void>
  /** The pids of its processes, in order. */
  starts(): number[]
}

export async function toolServer({ home }: Home, name: string, ...tools: string[]): Promise<ToolServer> {
  const folder = join(home, 'servers', name)
  await mkdir(folder, { recursive: true })
  const offers: ToolServer['offers'] = (...list) => writeFile(join(folder, 'tools.json'), JSON.stringify(list))
  await offers(...tools)
  return {
    entry: { command: process.execPath, args: [SERVER, folder] },
    offers,
    starts() {
      const file = join(folder, 'starts')
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : []
    },
  }
}

/** The text of a server file. */
export const serverFile = (mcpServers: Record<string, object>): string => JSON.stringify({ mcpServers })
