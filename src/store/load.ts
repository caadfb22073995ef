/** How much there is to do: what health tells about runs and servers. */
import type { Kysely } from 'kysely'
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
  const phases = await db
    .selectFrom('runs')
    .where('status', '=', 'running')
    .groupBy('phase')
    .select(({ fn }) => ['phase', fn.countAll<number>().as('count'), fn.min('created_at').as('oldest')])
    .execute()
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
    oldest_queued_at: queued ? Number(queued.oldest) : null,
    servers_up: inStatus('up'),
    servers_down: inStatus('down'),
  }
}
