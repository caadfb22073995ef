// The real composition on a temporary home, its doors called in process: no port, nothing faked.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { wire } from '../../src/app.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { createLog, type Log } from '../../src/telemetry/log.ts'
import type { Toolset } from '../../src/tools/toolset.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface TestApp extends AsyncDisposable {
  home: string
  store: Store
  /** Calls a door; a plain object becomes a JSON body. Paths of `api` are below /api/v1 unless they start with //. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  fetch(door: 'api' | 'mcp' | 'agents', request: Request): Promise<Response>
  /** Writes a file below the environments folder. */
  put(path: string, text: string): Promise<void>
}

export interface Answer {
  status: number
  headers: Headers
  // Tests assert on whatever came back.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is under test
  body: any
}

export interface AppParts {
  /** In place of those of the environments. */
  tools?: Toolset
  log?: Log
  clock?: Clock
  /** Puts something between the engine and the store. */
  around?: (store: Store) => Store
  /** Leaves accepted runs where they are. */
  idle?: boolean
}

/** Keys are variables of the environment: SVC_* and those of model providers. */
export async function startApp(settings: Record<string, string> = {}, parts: AppParts = {}): Promise<TestApp> {
  const folder = await temporaryFolder()
  const { config } = loadConfig({ flags: { home: folder.path }, env: settings, cwd: folder.path })
  const opened = await openSqliteStore(join(folder.path, 'data'))
  const store = parts.around?.(opened) ?? opened
  const { tools, log = createLog('silent'), clock = systemClock } = parts
  const doors = wire({ config, log, store, tools, clock })
  await store.write('ensureEnvironment', { name: 'default', at: systemClock.now() })
  if (!parts.idle) await doors.engine.start()

  const fetch: TestApp['fetch'] = async (door, request) => doors[door].fetch(request)

  return {
    home: folder.path,
    store,
    fetch,
    async api(method, path, body, headers = {}) {
      const url = `http://localhost:8585${path.startsWith('//') ? path.slice(1) : `/api/v1${path}`}`
      const json = body === undefined ? {} : { body: JSON.stringify(body) }
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const request = new Request(url, { method, ...json, headers: { host: 'localhost:8585', ...type, ...headers } })
      return toAnswer(await fetch('api', request))
    },
    async put(path, text) {
      const file = join(folder.path, 'environments', path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
    async [Symbol.asyncDispose]() {
      await doors.engine.stop(0)
      await doors.supervisor.stop()
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
