/** How the service is doing: what `/health` says on every port. */
import type { Clock } from '../clock.ts'
import { AppError } from '../contract/errors.ts'
import type { Health } from '../contract/health.ts'
import type { Store } from '../store/store.ts'

/** A database that takes longer than this to answer counts as down. */
const PATIENCE_MS = 1000

export interface HealthParts {
  store: Store
  clock: Clock
  version: string
  mode: Health['mode']
  model: Health['model']
}

/** Rejects with STORAGE_UNAVAILABLE when the database is down. */
export function createHealth({ store, clock, version, mode, model }: HealthParts): () => Promise<Health> {
  const startedAt = clock.elapsed()
  return async () => {
    await within(PATIENCE_MS, store.ping())
    const { queued, executing, oldest_queued_at, servers_up, servers_down } = await store.load()
    const waiting = oldest_queued_at === null ? 0 : Math.max(0, clock.now() - oldest_queued_at)
    return {
      status: servers_down > 0 ? 'degraded' : 'ok',
      version,
      mode,
      uptime_seconds: Math.floor((clock.elapsed() - startedAt) / 1000),
      database: { kind: store.kind, ok: true },
      runs: { queued, executing, oldest_queued_seconds: Math.floor(waiting / 1000) },
      workers: 1,
      mcp_servers: { up: servers_up, down: servers_down },
      model,
    }
  }
}

async function within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const refusal = new AppError('STORAGE_UNAVAILABLE', `the database did not answer within ${milliseconds} ms`)
  const timer = setTimeout(() => late.reject(refusal), milliseconds)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
