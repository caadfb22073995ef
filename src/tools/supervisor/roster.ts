/**
 * Which servers there are, environment by environment, as the files said when they were last read. A server that is the
 * same as before stays as it is; one whose file cannot be understood right now does, too.
 */
import type { Store } from '../../store/store.ts'
import type { FoundServer, FoundServers, ReadServers, ServerConfig } from '../servers/server-config.ts'
import type { Supervised } from './supervised.ts'

type Servers = ReadonlyMap<string, Supervised>

/** Why servers that the files define cannot be used, by their names. */
type Refusals = ReadonlyMap<string, string>

export interface EnvironmentRef {
  id: number
  name: string
}

interface Reading {
  found: FoundServers
  servers: Servers
}

export interface Roster {
  /** Undefined when the files were not read yet. */
  known(environment: string): Servers | undefined
  of(environment: EnvironmentRef): Promise<Servers>
  /** One reading after the other; one that fails changes nothing. */
  readAnew(environment: EnvironmentRef): Promise<Reading>
  refusals(environment: string): Refusals
  /** Closes every server, also those that are no longer on it. */
  close(): Promise<void>
}

interface RosterParts {
  store: Store
  readServers: ReadServers
  /** `after` is the end of the server that had the same name before. */
  take(config: ServerConfig, environmentId: number, known: { heard: boolean; after: Promise<void> }): Supervised
}

export function createRoster({ store, readServers, take }: RosterParts): Roster {
  const known = new Map<string, Servers>()
  const refused = new Map<string, Refusals>()
  const readings = new Map<string, Promise<Reading>>()
  const retired = new Set<Supervised>()

  function readAnew(environment: EnvironmentRef): Promise<Reading> {
    const { name } = environment
    const earlier = readings.get(name)?.catch(() => undefined)
    const reading = Promise.resolve(earlier).then(() => read(environment))
    readings.set(name, reading)
    const forget = () => {
      if (readings.get(name) === reading) readings.delete(name)
    }
    reading.then(forget, forget)
    return reading
  }

  async function read(environment: EnvironmentRef): Promise<Reading> {
    const before = known.get(environment.name)
    const found = await readServers(environment.name)
    const kept = whatStays(environment.name, found, before ?? new Map())
    const clear = found.servers.filter(({ name }) => !kept.has(name))
    const stays = unclearIn(environment.name, found, [...kept.keys()])
    const servers = clear.map(toRow)
    const stored = await store.write('syncServers', { environment_id: environment.id, servers, stays })
    const heard = new Set(stored.filter((row) => row.listed_hash === row.config_hash).map((row) => row.name))
    const next = new Map([...kept, ...adopt(environment.id, clear, before ?? new Map(), heard)])
    for (const [name, server] of before ?? []) if (next.get(name) !== server) void retire(server)
    // A folder that is not there now may be there the next time that somebody asks.
    if (before || !isWithoutFolder(environment.name, found)) known.set(environment.name, next)
    refused.set(environment.name, refusalsIn(clear))
    return { found, servers: next }
  }

  function adopt(
    id: number,
    found: FoundServer[],
    before: Servers,
    heard: ReadonlySet<string>,
  ): [string, Supervised][] {
    return found.flatMap(usable).map((config) => {
      const earlier = before.get(config.name)
      if (earlier?.config.hash === config.hash) return [config.name, earlier]
      const after = earlier && !earlier.isCalled() ? retire(earlier) : Promise.resolve()
      return [config.name, take(config, id, { heard: heard.has(config.name), after })]
    })
  }

  /** Calls that are under way may end. */
  async function retire(server: Supervised): Promise<void> {
    retired.add(server)
    await server.retire()
    retired.delete(server)
  }

  return {
    readAnew,
    known: (environment) => known.get(environment),
    refusals: (environment) => refused.get(environment) ?? new Map(),
    async of(environment) {
      const servers = known.get(environment.name)
      return servers ?? (await (readings.get(environment.name) ?? readAnew(environment))).servers
    },
    async close() {
      await Promise.allSettled(readings.values())
      const everyone = [...retired, ...[...known.values()].flatMap((servers) => [...servers.values()])]
      await Promise.all(everyone.map((server) => server.close()))
    },
  }
}

/** What was there before, and nobody can tell what the files say about it now. */
function whatStays(environment: string, found: FoundServers, before: Servers): Map<string, Supervised> {
  const present = new Set(found.servers.filter(isClear).map(({ name }) => name))
  const broken = new Set(found.errors.map(({ file, server }) => server ?? file))
  for (const { name, ...server } of found.servers) if (!isClear(server)) broken.add(name)
  const isUnclear = ({ config: { name, file } }: Supervised) =>
    isWithoutFolder(environment, found) || broken.has(file) || broken.has(name)
  return new Map([...before].filter(([name, server]) => !present.has(name) && isUnclear(server)))
}

/** Its variables could be read. */
const isClear = ({ config }: Pick<FoundServer, 'config'>) => !('problem' in config && config.is_unclear)

const isWithoutFolder = (environment: string, { errors }: FoundServers) =>
  errors.some(({ file }) => file === environment)

function unclearIn(environment: string, found: FoundServers, in_use: readonly string[]) {
  const named = found.errors.flatMap(({ server }) => (server === undefined ? [] : [server]))
  const files = found.errors.flatMap(({ file, server }) => (server === undefined ? [file] : []))
  return { files: isWithoutFolder(environment, found) ? ('all' as const) : files, names: [...named, ...in_use], in_use }
}

const refusalsIn = (servers: readonly FoundServer[]): Refusals =>
  new Map(
    servers.flatMap(({ name, disabled, config }) => {
      if (disabled) return [[name, 'disabled in its file']]
      return 'problem' in config ? [[name, config.problem]] : []
    }),
  )

const usable = ({ config, disabled }: FoundServer): ServerConfig[] => (disabled || 'problem' in config ? [] : [config])

function toRow({ name, file, transport, shown, disabled, config }: FoundServer) {
  const row = { name, file, transport, shown, keeps_tools: !disabled }
  if (disabled) return { ...row, config_hash: 'disabled', status: 'idle' as const, error: 'disabled in its file' }
  if ('problem' in config) return { ...row, config_hash: '', status: 'down' as const, error: config.problem }
  return { ...row, config_hash: config.hash, status: 'idle' as const, error: null }
}
