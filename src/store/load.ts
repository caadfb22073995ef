/** How much there is to do: what health tells about runs and servers. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './schema.ts'

export interface Load {
  queued: number
  executing: number
  /** When the run that waits longest was accepted; null when none waits. */
  oldest_queued_at: number | null
  servers_up: number
  servers_down: number
}

export async function readLoad(db: Kysely<Tables>): Promise<Load> {
  // A literal, so that the index of unfinished runs is enough and no row is read, however many wait.
  const unfinished = sql<boolean>`status = 'running'`
  const phases = await db
    .selectFrom('runs')
    .where(unfinished)
    .groupBy('phase')
    .select(({ fn }) => ['phase', fn.countAll<number>().as('count')])
    .execute()
  const oldest = await db
    .selectFrom('runs')
    .where(unfinished)
    .where('phase', '=', 'queued')
    .orderBy('id')
    .limit(1)
    .select('created_at')
    .executeTakeFirst()
  const servers = await db
    .selectFrom('mcp_servers')
    .groupBy('status')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .execute()
  const queued = phases.find(({ phase }) => phase === 'queued')
  const total = phases.reduce((sum, { count }) => sum + Number(count), 0)
  const inStatus = (status: string) => Number(servers.find((row) => row.status === status)?.count ?? 0)
  return {
    queued: Number(queued?.count ?? 0),
    executing: total - Number(queued?.count ?? 0),
    oldest_queued_at: oldest?.created_at ?? null,
    servers_up: inStatus('up'),
    servers_down: inStatus('down'),
  }
}
