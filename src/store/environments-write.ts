/** How environments change: a folder seen for the first time, and what the last sync found. */
import type { LastSync } from '../contract/environment.ts'
import { first, only, rows, sql, type Write } from './statement.ts'

export function* ensureEnvironment({ name, at }: { name: string; at: number }): Write<{ id: number }> {
  const known = yield* first<{ id: number }>(sql`SELECT id FROM environments WHERE name = ${name}`)
  if (known) return known
  return yield* only<{ id: number }>(sql`
    INSERT INTO environments (name, description, created_at, updated_at)
    VALUES (${name}, '', ${at}, ${at}) RETURNING id`)
}

export function* recordSync({ id, last_sync }: { id: number; last_sync: LastSync }): Write<null> {
  yield* rows(sql`UPDATE environments SET last_sync = ${JSON.stringify(last_sync)} WHERE id = ${id}`)
  return null
}
