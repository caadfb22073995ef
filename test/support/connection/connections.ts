// Real connections for tests, and what the tests ask them for. Each one is closed with its scope.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { Json } from '../../../src/contract/tool.ts'
import { createConnect } from '../../../src/tools/connection/connect.ts'
import type { Connection, ServerFailure } from '../../../src/tools/connection/connection.ts'
import { serviceMark } from '../../../src/tools/connection/stdio/orphans.ts'
import type { HttpTarget, ServerConfig, StdioTarget } from '../../../src/tools/servers/server-config.ts'

const NODE_MODULES = join(import.meta.dirname, '../../../node_modules')
export const EVERYTHING = join(NODE_MODULES, '@modelcontextprotocol/server-everything/dist/index.js')

const log = pino({ level: 'silent' })
const connect = createConnect({ log, service: serviceMark(import.meta.dirname) })

export const program = (command: string, ...args: string[]): StdioTarget => ({
  kind: 'stdio',
  command,
  given: command,
  args,
  env: {},
  cwd: import.meta.dirname,
})
const script = (url: URL, mode: string) => program(process.execPath, fileURLToPath(url), mode)
export const oddServer = (mode = '') => script(new URL('./odd-server.ts', import.meta.url), mode)
export const modernServer = (eras: string) => script(new URL('./modern-server.ts', import.meta.url), eras)
export const at = (url: string, headers: Record<string, string> = {}): HttpTarget => ({ kind: 'http', url, headers })

export const configOf = (target: ServerConfig['target'], changes: Partial<ServerConfig> = {}): ServerConfig => ({
  environment: 'default',
  name: 'server',
  file: 'default/servers.json',
  hash: JSON.stringify(target),
  target,
  timeout_ms: 10_000,
  connect_timeout_ms: 15_000,
  mask: (text) => text.replaceAll('s3cret', '••••'),
  ...changes,
})

export interface TestConnection extends Connection, AsyncDisposable {
  /** How often the server said that its tools have changed. */
  changes(): number
  ask(tool: string, input?: { [key: string]: Json }, options?: AskOptions): ReturnType<Connection['call']>
}

interface AskOptions {
  signal?: AbortSignal
  timeout_ms?: number
  input_schema?: { [key: string]: Json }
}

const never = new AbortController().signal

export async function connected(
  target: ServerConfig['target'],
  changes: Partial<ServerConfig> = {},
  signal: AbortSignal = never,
): Promise<TestConnection> {
  let count = 0
  const onToolsChanged = () => {
    count++
  }
  const connection = await connect(configOf(target, changes), { onToolsChanged }, signal)
  return {
    ...connection,
    changes: () => count,
    ask: (name, input = {}, { input_schema = { type: 'object' }, timeout_ms = 10_000, signal = never } = {}) =>
      connection.call({ name, input_schema }, input, { key: '7:3', signal, timeout_ms }),
    [Symbol.asyncDispose]: connection.close,
  }
}

/** The failure of something that has to fail. */
export const failureOf = (attempt: Promise<unknown>): Promise<Pick<ServerFailure, 'kind' | 'message' | 'name'>> =>
  attempt.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`)
    },
    ({ name, kind, message }) => ({ name, kind, message }),
  )
