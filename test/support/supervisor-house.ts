// A supervisor with a real store, real files and real servers, whose patience a test may choose.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createConnect } from '../../src/tools/connection/connect.ts'
import { serviceMark } from '../../src/tools/connection/stdio/orphans.ts'
import { createServerFiles } from '../../src/tools/servers/server-files.ts'
import type { EnvironmentRef } from '../../src/tools/supervisor/roster.ts'
import { TIMING, type Timing } from '../../src/tools/supervisor/supervised.ts'
import { createSupervisor, type Supervisor } from '../../src/tools/supervisor/supervisor.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { serverFile } from './tool-server/files.ts'

export interface SupervisorHouse extends AsyncDisposable {
  home: string
  store: Store
  supervisor: Supervisor
  environment: EnvironmentRef
  /** Writes the server file of the environment. */
  servers(entries: Record<string, object>): Promise<void>
  /** The record of a server as the API would show it. */
  server(name: string): Promise<Record<string, unknown> | undefined>
  call(server: string, tool: string, input?: Record<string, string | number | boolean>): Promise<CallAnswer>
}

interface CallAnswer {
  output: unknown
  is_error: boolean
}

interface HouseOptions {
  timing?: Partial<Timing>
  mostProcesses?: number
}

export async function openSupervisorHouse({ timing, ...options }: HouseOptions = {}): Promise<SupervisorHouse> {
  const folder = await temporaryFolder()
  const home = folder.path
  const store = await openSqliteStore(join(home, 'data'))
  const { id } = await store.write('ensureEnvironment', { name: 'default', at: systemClock.now() })
  const log = createLog('silent')
  const root = join(home, 'environments')
  const supervisor = createSupervisor({
    ...{ store, log, clock: systemClock, timing: { ...TIMING, ...timing }, ...options },
    readServers: createServerFiles({
      root,
      variables: {},
      builtIn: { AGENTHOST_ROOT: home, AGENTHOST_NODE: process.execPath },
    }).read,
    connect: createConnect({ log, service: serviceMark(home) }),
  })
  return {
    ...{ home, store, supervisor, environment: { id, name: 'default' } },
    async servers(entries) {
      const file = join(root, 'default/servers.json')
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, serverFile(entries))
    },
    async server(name) {
      const { items } = await store.servers.list({}, { page: 1, limit: 100 })
      return items.find((server) => server.name === name)
    },
    call: (server, name, input = {}) =>
      supervisor.call({ environment: 'default', server, tool: { name, input_schema: { type: 'object' } } }, input, {
        key: 'test',
        signal: new AbortController().signal,
      }),
    async [Symbol.asyncDispose]() {
      await supervisor.stop()
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}
