/** Queries that are asked all the time: put together once, with only their values new each time. */
import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Tables } from './schema.ts'

/** Stands for a value while the query is put together; the values come in the order of the text. */
export const VALUE = 0 as never

export function prepare<Row>(db: Kysely<Tables>, query: Compilable<Row>): (...values: unknown[]) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (...parameters) => {
    compiled ??= query.compile()
    return (await db.executeQuery<Row>({ ...compiled, parameters })).rows
  }
}
