/** How MCP servers are read. */
import type { Kysely } from 'kysely'
import type { McpServer, ServerStatus } from '../../contract/mcp-server.ts'
import type { Page, PageRequest } from '../../contract/page.ts'
import { isoTime } from '../../contract/time.ts'
import type { Tables } from '../schema.ts'

interface ServerFilter {
  environment?: string | undefined
}

/** A server as its supervisor needs it. */
export interface StoredServer {
  id: number
  name: string
  config_hash: string
  /** The configuration under which its tools were listed; null when they never were. */
  listed_hash: string | null
  status: ServerStatus
  tools_count: number
}

export interface ServerReads {
  /** By id. */
  list(filter: ServerFilter, page: PageRequest): Promise<Page<McpServer>>
  /** By id. */
  ofEnvironment(environmentId: number): Promise<StoredServer[]>
}

export function createServerReads(db: Kysely<Tables>): ServerReads {
  return {
    async list({ environment }, { page, limit }) {
      let query = selected(db)
      if (environment !== undefined) query = query.where('e.name', '=', environment)
      const rows = await query
        .orderBy('s.id')
        .limit(limit)
        .offset((page - 1) * limit)
        .execute()
      return { items: rows.map(toServer), total: await countServers(db, environment) }
    },

    ofEnvironment: (environmentId) =>
      db
        .selectFrom('mcp_servers')
        .select(['id', 'name', 'config_hash', 'listed_hash', 'status', 'tools_count'])
        .where('environment_id', '=', environmentId)
        .orderBy('id')
        .execute(),
  }
}

const selected = (db: Kysely<Tables>) =>
  db
    .selectFrom('mcp_servers as s')
    .innerJoin('environments as e', 'e.id', 's.environment_id')
    .select(['s.id', 's.name', 'e.name as environment', 's.transport', 's.config'])
    .select(['s.status', 's.error', 's.tools_count', 's.last_connected_at'])

/** Environments carry the number of their servers. */
async function countServers(db: Kysely<Tables>, environment: string | undefined): Promise<number> {
  let query = db.selectFrom('environments').select(({ fn }) => fn.sum<number | null>('mcp_servers_count').as('count'))
  if (environment !== undefined) query = query.where('name', '=', environment)
  return Number((await query.executeTakeFirstOrThrow()).count ?? 0)
}

type JoinedRow = Awaited<ReturnType<ReturnType<typeof selected>['execute']>>[number]

const toServer = ({ config, last_connected_at, ...row }: JoinedRow): McpServer => ({
  id: row.id,
  name: row.name,
  environment: row.environment,
  transport: row.transport,
  ...JSON.parse(config),
  status: row.status,
  error: row.error,
  tools_count: row.tools_count,
  last_connected_at: last_connected_at === null ? null : isoTime(last_connected_at),
})
