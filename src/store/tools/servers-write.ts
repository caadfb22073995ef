/** How MCP servers change: by what the files of their environment say, and by how they do. */
import type { McpServer, ServerStatus, ShownTarget } from '../../contract/mcp-server.ts'
import { rows, sql, type Write } from '../statement.ts'
import type { StoredServer } from './servers.ts'
import { countAnew, nameAnew } from './tool-names-write.ts'

export interface SyncedServer {
  name: string
  /** Where it is defined, below the environments folder. */
  file: string
  transport: McpServer['transport']
  shown: ShownTarget
  config_hash: string
  status: 'idle' | 'down'
  error: string | null
  /** False for a server that is not to be used: its tools go. */
  keeps_tools: boolean
}

interface SyncServers {
  environment_id: number
  servers: SyncedServer[]
  /** Of the others, what stays, because nobody can tell what the files say about it now. */
  stays?: Unclear
}

interface Unclear {
  /** Servers of these files; of any file when the folder itself cannot be read. */
  files: readonly string[] | 'all'
  names: readonly string[]
  /** Those among them that are in use as they were. */
  in_use: readonly string[]
}

const NOTHING: Unclear = { files: [], names: [], in_use: [] }

interface ReportServer {
  environment_id: number
  name: string
  /** The configuration that the report is about: another one in the database makes it old news. */
  config_hash: string
  status: ServerStatus
  error: string | null
  at: number
}

interface KnownServer extends StoredServer {
  file: string | null
  transport: McpServer['transport']
  config: string
  error: string | null
}

/** Makes the environment's servers exactly these. One that is known by its name stays the same server. */
export function* syncServers({ environment_id, servers, stays = NOTHING }: SyncServers): Write<StoredServer[]> {
  const known = yield* serversOf(environment_id)
  const named = new Set(servers.map(({ name }) => name))
  for (const server of known) if (!named.has(server.name)) yield* removeUnlessUnclear(server, stays)
  for (const server of servers) {
    const before = known.find(({ name }) => name === server.name)
    if (before) yield* update(before, server)
    else yield* insert(environment_id, server)
  }
  yield* nameAnew(environment_id)
  yield* countAnew(environment_id)
  return (yield* serversOf(environment_id)).map(toStoredServer)
}

/** What is said about another configuration than today's changes nothing. */
export function* reportServer(input: ReportServer): Write<null> {
  const { environment_id, name, config_hash, status, error, at } = input
  yield* rows(sql`
    UPDATE mcp_servers SET status = ${status}, error = ${error},
      last_connected_at = COALESCE(${status === 'up' ? at : null}, last_connected_at)
    WHERE environment_id = ${environment_id} AND name = ${name} AND config_hash = ${config_hash}`)
  return null
}

/** At a start nobody is connected yet, and what failed may work again. Only for a database that one process has for itself. */
export function* quietServers(_input: null): Write<null> {
  yield* rows(sql`
    UPDATE mcp_servers SET status = 'idle', error = CASE WHEN status = 'down' THEN NULL ELSE error END
    WHERE status <> 'idle'`)
  return null
}

function* serversOf(environmentId: number): Write<KnownServer[]> {
  return yield* rows<KnownServer>(sql`
    SELECT id, name, file, transport, config, config_hash, listed_hash, status, error, tools_count FROM mcp_servers
    WHERE environment_id = ${environmentId} ORDER BY id`)
}

const toStoredServer = ({ id, name, config_hash, listed_hash, status, tools_count }: KnownServer): StoredServer => ({
  ...{ id, name, config_hash, listed_hash, status, tools_count },
})

function* removeUnlessUnclear({ id, name, file }: KnownServer, { files, names, in_use }: Unclear): Write<void> {
  const isUnclear = files === 'all' || names.includes(name) || (file !== null && files.includes(file))
  if (!isUnclear) yield* remove(id)
  else if (!in_use.includes(name)) {
    yield* rows(sql`UPDATE mcp_servers SET status = 'down', error = ${NOT_UNDERSTOOD} WHERE id = ${id}`)
  }
}

const NOT_UNDERSTOOD = 'its file cannot be understood at the moment'

/** Its tools go with it. */
function* remove(id: number): Write<void> {
  yield* rows(sql`DELETE FROM mcp_servers WHERE id = ${id}`)
}

function* insert(environmentId: number, server: SyncedServer): Write<void> {
  yield* rows(sql`
    INSERT INTO mcp_servers (environment_id, name, file, transport, config, config_hash, status, error)
    VALUES (${environmentId}, ${server.name}, ${server.file}, ${server.transport}, ${JSON.stringify(server.shown)},
      ${server.config_hash}, ${server.status}, ${server.error})`)
}

function* update(before: KnownServer, server: SyncedServer): Write<void> {
  const changes = changesOf(before, server)
  if (!server.keeps_tools && before.tools_count > 0) yield* rows(sql`DELETE FROM tools WHERE server_id = ${before.id}`)
  if (Object.entries(changes).every(([field, value]) => before[field as keyof KnownServer] === value)) return
  const after = { ...before, ...changes }
  yield* rows(sql`
    UPDATE mcp_servers SET file = ${after.file}, transport = ${after.transport}, config = ${after.config}, config_hash = ${after.config_hash},
      status = ${after.status}, error = ${after.error}, tools_count = ${after.tools_count},
      listed_hash = ${after.listed_hash}
    WHERE id = ${before.id}`)
}

/** A server that runs with the same configuration as before is left as it is: the files do not know how it does. */
function changesOf(before: KnownServer, { keeps_tools, ...server }: SyncedServer): Partial<KnownServer> {
  const { file, transport, config_hash, status, error } = server
  const isNews = before.config_hash !== config_hash || status === 'down' || error !== null || !keeps_tools
  return {
    ...{ file, transport, config: JSON.stringify(server.shown), config_hash },
    ...(isNews ? { status, error } : {}),
    // Without the tools there is no list: it has to be asked for when the server is to be used again.
    ...(keeps_tools ? {} : { tools_count: 0, listed_hash: null }),
  }
}
