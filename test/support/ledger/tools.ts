// The ledger server's tools as the engine gets them: over a real connection, with the promises an operator makes.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { Tool } from '../../../src/contract/tool.ts'
import { createConnect } from '../../../src/tools/connection/connect.ts'
import { repeatPolicy, type ServerPromises } from '../../../src/tools/repeat-policy.ts'
import type { ServerConfig } from '../../../src/tools/servers/server-config.ts'

export interface LedgerTools extends AsyncDisposable {
  tools: Tool[]
  close(): Promise<void>
}

interface LedgerOptions {
  /** Where the physical calls are written down. */
  file: string
  life: number
  /** One set of tools for each name, `<name>_<tool>`; the name '' leaves the tools their own names. */
  promises: Readonly<Record<string, ServerPromises>>
}

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))
const TIMEOUT_MS = 60_000

export async function startLedgerTools({ file, life, promises }: LedgerOptions): Promise<LedgerTools> {
  const connect = createConnect({ log: pino({ level: 'silent' }), service: 'ledger' })
  const { signal } = new AbortController()
  const connection = await connect(configFor(file, life), { onToolsChanged() {} }, signal)
  const { tools } = await connection.list({ timeout_ms: TIMEOUT_MS })
  return {
    tools: Object.entries(promises).flatMap(([server, promise]) =>
      tools.map(
        (tool): Tool => ({
          ...{ name: named(server, tool.name), server: server || 'ledger', description: tool.description },
          input_schema: tool.input_schema,
          repeat: repeatPolicy(promise, tool.annotations),
          call: (input, context) => connection.call(tool, input, { ...context, timeout_ms: TIMEOUT_MS }),
        }),
      ),
    ),
    close: connection.close,
    [Symbol.asyncDispose]: connection.close,
  }
}

const configFor = (file: string, life: number): ServerConfig => ({
  ...{
    environment: 'default',
    name: 'ledger',
    file: 'default/ledger.json',
    hash: file,
    timeout_ms: TIMEOUT_MS,
    connect_timeout_ms: TIMEOUT_MS,
  },
  target: {
    kind: 'stdio',
    command: process.execPath,
    given: 'node',
    args: [SERVER, file, String(life)],
    // It starts with every life of the service: the cache halves that.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    cwd: import.meta.dirname,
  },
  mask: (text) => text,
})

const named = (server: string, tool: string) => (server === '' ? tool : `${server}_${tool}`)
