/**
 * All tool servers of all environments. The files say which there are; each is supervised on its own, so that a bad one
 * harms nobody else. Nothing is connected before somebody wants it.
 */
import type { Clock } from '../../clock.ts'
import type { SyncError } from '../../contract/environment.ts'
import type { Json, ToolAnswer, ToolCallContext } from '../../contract/tool.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../../telemetry/log.ts'
import { type CallTarget, type Connect, ServerFailure } from '../connection/connection.ts'
import type { ServerPromises } from '../repeat-policy.ts'
import type { FoundServers, ReadServers } from '../servers/server-config.ts'
import { createCrowd } from './crowd.ts'
import { createMemory } from './memory.ts'
import { createRoster, type EnvironmentRef } from './roster.ts'
import { type Supervised, supervise, TIMING, type Timing } from './supervised.ts'

/** Each is a process of 50 to 150 MB. */
const MOST_PROCESSES = 64

export interface Supervisor {
  /**
   * Reads the files anew and connects what they have changed, or everything, to read its tools. A server that nobody
   * is calling starts anew, since its program may have changed as well.
   * Resolves with what went wrong once every server has answered or failed.
   */
  sync(environment: EnvironmentRef, which: 'changed' | 'all'): Promise<SyncError[]>
  /** What is wrong with the files. Connects to nothing. */
  check(environment: string): Promise<SyncError[]>
  /** Gives servers whose tools were never listed a chance to answer: one promise for each, none of which rejects. */
  hear(environment: EnvironmentRef): Promise<Promise<void>[]>
  /** What the operator promises about each server that can be used. */
  servers(environment: EnvironmentRef): Promise<Map<string, ServerPromises>>
  /** Why servers are not to be had, by their names: those that are down, and those that the files rule out. */
  troubles(environment: EnvironmentRef): Promise<Map<string, string>>
  /** Rejects with ServerFailure, or with the signal's reason. */
  call(target: ToolTarget, input: { [key: string]: Json }, context: ToolCallContext): Promise<ToolAnswer>
  /** Resolves when no process of any server is left. */
  stop(): Promise<void>
}

interface ToolTarget {
  environment: string
  server: string
  tool: CallTarget
}

interface SupervisorParts {
  store: Store
  readServers: ReadServers
  connect: Connect
  clock: Clock
  log: Log
  timing?: Timing
  mostProcesses?: number
}

export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { store, readServers, connect, clock, log, timing = TIMING, mostProcesses = MOST_PROCESSES } = parts
  const crowd = createCrowd(mostProcesses)
  const roster = createRoster({
    store,
    readServers,
    take(config, environment_id, known) {
      const memory = createMemory({ config, environment_id, store, clock, log })
      return supervise({ config, ...known, connect, memory, crowd, clock, timing })
    },
  })
  let isStopped = false

  /** One that was replaced meanwhile is not to blame for having been given up. */
  async function refresh(environment: EnvironmentRef, servers: Supervised[]): Promise<SyncError[]> {
    const failures = await Promise.all(servers.map((server) => startAnew(server)))
    const today = await roster.of(environment)
    return failures.flatMap((message, index) => {
      const { name } = servers[index]?.config ?? { name: '' }
      return message !== undefined && today.get(name) === servers[index] ? [{ server: name, message }] : []
    })
  }

  /** Resolves with what went wrong. */
  async function startAnew(server: Supervised): Promise<string | undefined> {
    try {
      server.forgive()
      await server.rest()
      await server.refresh()
      return undefined
    } catch (error) {
      if (error instanceof ServerFailure) return error.message
      log.error({ err: error, server: server.config.name }, 'a tool server could not be connected')
      return 'the server could not be connected because of a mistake in the service; its log has the details'
    }
  }

  async function find({ environment, server }: ToolTarget): Promise<Supervised> {
    const servers = isStopped ? undefined : (roster.known(environment) ?? (await firstTimeOf(environment)))
    const found = servers?.get(server)
    if (found) return found
    throw new ServerFailure('unreachable', whyNot(environment, server, roster.refusals(environment).get(server)))
  }

  async function firstTimeOf(environment: string) {
    const stored = await store.environments.find(environment)
    return stored && roster.of({ id: Number(stored.id), name: environment })
  }

  return {
    async sync(environment, which) {
      const { found, servers } = await roster.readAnew(environment)
      const wanted = [...servers.values()].filter((server) => which === 'all' || !server.isHeard())
      const failures = isStopped ? [] : await refresh(environment, wanted)
      // What was cut off by our own end is nobody's mistake.
      return isStopped ? [] : [...complaintsOf(found), ...failures]
    },

    check: async (environment) => complaintsOf(await readServers(environment)),

    async hear(environment) {
      const servers = [...(await roster.of(environment)).values()]
      const silent = servers.filter((server) => !server.isHeard() && server.isWorthATry())
      return silent.map((server) => server.refresh().catch(() => undefined))
    },

    async servers(environment) {
      const servers = await roster.of(environment)
      return new Map([...servers].map(([name, server]) => [name, promisesOf(server)]))
    },

    async troubles(environment) {
      const servers = await roster.of(environment)
      const down = [...servers].flatMap(([name, { problem }]): [string, string][] => {
        const why = problem()
        return why === undefined ? [] : [[name, why]]
      })
      return new Map([...roster.refusals(environment.name), ...down])
    },

    call: async (target, input, context) => (await find(target)).call(target.tool, input, context),

    async stop() {
      isStopped = true
      await roster.close()
    },
  }
}

const promisesOf = ({ config: { retry, trusted } }: Supervised): ServerPromises => ({ retry, trusted })

const whyNot = (environment: string, server: string, refusal: string | undefined) =>
  refusal === undefined
    ? `the environment '${environment}' has no server '${server}' any more`
    : `the server '${server}' cannot be used: ${refusal}`

const complaintsOf = ({ servers, errors }: FoundServers): SyncError[] => [
  ...errors,
  ...servers.flatMap(({ name, config, disabled }) =>
    !disabled && 'problem' in config ? [{ server: name, message: config.problem }] : [],
  ),
]
