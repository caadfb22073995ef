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
import type { FoundServer, FoundServers, ReadServers, ServerConfig } from '../servers/server-config.ts'
import { createCrowd } from './crowd.ts'
import { createMemory } from './memory.ts'
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
  /** Gives servers whose tools were never listed a chance to answer. */
  hear(environment: EnvironmentRef): Promise<void>
  /** What the operator promises about each server, and why it cannot be used at the moment. */
  servers(environment: EnvironmentRef): Promise<Map<string, ServerFacts>>
  /** Rejects with ServerFailure, or with the signal's reason. */
  call(target: ToolTarget, input: { [key: string]: Json }, context: ToolCallContext): Promise<ToolAnswer>
  /** Resolves when no process of any server is left. */
  stop(): Promise<void>
}

export interface EnvironmentRef {
  id: number
  name: string
}

export interface ServerFacts extends ServerPromises {
  problem: string | undefined
}

export interface ToolTarget {
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

type Servers = Map<string, Supervised>

interface Reading {
  found: FoundServers
  servers: Servers
}

export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { store, readServers, connect, clock, log, timing = TIMING, mostProcesses = MOST_PROCESSES } = parts
  const crowd = createCrowd(mostProcesses)
  const environments = new Map<string, Promise<Servers>>()
  const retired = new Set<Supervised>()
  let isStopped = false

  /** As the files were when they were last read. */
  const serversOf = (environment: EnvironmentRef): Promise<Servers> =>
    environments.get(environment.name) ?? readAnew(environment).then(({ servers }) => servers)

  /** One reading after the other, each with what the one before has left; one that fails changes nothing. */
  function readAnew(environment: EnvironmentRef): Promise<Reading> {
    const { name } = environment
    const before = environments.get(name)
    const reading = Promise.resolve(before ?? new Map()).then(async (known: Servers) => {
      const found = await readServers(name)
      return { found, servers: await adopt(environment, found, known) }
    })
    const after: Promise<Servers> = reading.then(
      ({ servers }) => servers,
      (error) => {
        if (before) return before
        if (environments.get(name) === after) environments.delete(name)
        throw error
      },
    )
    after.catch(() => undefined)
    environments.set(name, after)
    return reading
  }

  /** Servers that are the same as before stay as they are. */
  async function adopt({ id, name }: EnvironmentRef, { servers }: FoundServers, before: Servers): Promise<Servers> {
    const rows = servers.map(toRow)
    const stored = await store.write('syncServers', { environment_id: id, servers: rows })
    const heard = new Set(stored.filter((row) => row.listed_hash === row.config_hash).map((row) => row.name))
    const next: Servers = new Map()
    for (const config of servers.flatMap(usable)) {
      const known = before.get(config.name)
      const isSame = known?.config.hash === config.hash
      next.set(config.name, isSame ? known : take(config, id, heard.has(config.name)))
    }
    for (const [name, server] of before) if (next.get(name) !== server) retire(server)
    log.debug({ environment: name, servers: next.size }, 'tool servers are known')
    return next
  }

  /** Calls that are under way may end. */
  function retire(server: Supervised): void {
    retired.add(server)
    void server.retire().finally(() => retired.delete(server))
  }

  function take(config: ServerConfig, environment_id: number, heard: boolean): Supervised {
    const memory = createMemory({ config, environment_id, store, clock, log })
    return supervise({ config, heard, connect, memory, ...crowd, clock, timing })
  }

  async function refresh(servers: Supervised[], from: 'anew' | 'as-is'): Promise<SyncError[]> {
    const outcomes = await Promise.allSettled(
      servers.map(async (server) => {
        if (from === 'anew') await server.rest()
        await server.refresh()
      }),
    )
    return outcomes.flatMap((outcome, index) => {
      if (outcome.status === 'fulfilled') return []
      return [{ server: servers[index]?.config.name ?? '', message: messageOf(outcome.reason) }]
    })
  }

  async function find({ environment, server }: ToolTarget): Promise<Supervised> {
    const known = await store.environments.find(environment)
    const servers = known && (await serversOf({ id: Number(known.id), name: environment }))
    const found = servers?.get(server)
    if (found) return found
    throw new ServerFailure(
      'unreachable',
      `the environment '${environment}' has no server '${server}' that can be used`,
    )
  }

  return {
    async sync(environment, which) {
      const { found, servers } = await readAnew(environment)
      const wanted = [...servers.values()].filter((server) => which === 'all' || !server.isHeard())
      const failures = isStopped ? [] : await refresh(wanted, 'anew')
      // What was cut off by our own end is nobody's mistake.
      return isStopped ? [] : [...complaintsOf(found), ...failures]
    },

    check: async (environment) => complaintsOf(await readServers(environment)),

    async hear(environment) {
      const servers = [...(await serversOf(environment)).values()]
      const silent = servers.filter((server) => !server.isHeard() && server.problem() === undefined)
      await refresh(silent, 'as-is')
    },

    async servers(environment) {
      const servers = await serversOf(environment)
      return new Map(
        [...servers].map(([name, { config, problem }]) => [name, { ...promisesOf(config), problem: problem() }]),
      )
    },

    call: async (target, input, context) => (await find(target)).call(target.tool, input, context),

    async stop() {
      isStopped = true
      const none: Servers = new Map()
      const all = await Promise.all([...environments.values()].map((servers) => servers.catch(() => none)))
      const everyone = [...retired, ...all.flatMap((servers) => [...servers.values()])]
      await Promise.all(everyone.map((server) => server.close()))
    },
  }
}

const promisesOf = ({ retry, trusted }: ServerConfig): ServerPromises => ({ retry, trusted })

const usable = ({ config, disabled }: FoundServer): ServerConfig[] => (disabled || 'problem' in config ? [] : [config])

function toRow({ name, transport, shown, disabled, config }: FoundServer) {
  const row = { name, transport, shown, keeps_tools: !disabled }
  if (disabled) return { ...row, config_hash: 'disabled', status: 'idle' as const, error: 'disabled in its file' }
  if ('problem' in config) return { ...row, config_hash: '', status: 'down' as const, error: config.problem }
  return { ...row, config_hash: config.hash, status: 'idle' as const, error: null }
}

const complaintsOf = ({ servers, errors }: FoundServers): SyncError[] => [
  ...errors,
  ...servers.flatMap(({ name, config, disabled }) =>
    !disabled && 'problem' in config ? [{ server: name, message: config.problem }] : [],
  ),
]

const messageOf = (error: unknown) =>
  error instanceof ServerFailure
    ? error.message
    : 'the server could not be connected because of a mistake in the service; its log has the details'
