/**
 * One way to write SQL for both databases. A write is a generator that yields statements and gets rows back:
 * the SQLite thread steps through it synchronously, a PostgreSQL connection would await each yield.
 * So every write exists once, and runs inside whatever transaction its driver opened around it.
 */
export type Value = string | number | null

export interface Statement {
  /** Text between the values; a driver joins the parts with its own placeholders. */
  parts: readonly string[]
  values: readonly Value[]
}

export type Row = Record<string, unknown>
export type Write<Result> = Generator<Statement, Result, Row[]>

export const sql = (parts: TemplateStringsArray, ...values: Value[]): Statement => ({ parts, values })

/** Runs a statement and returns its rows; the caller knows their type from the columns it asked for. */
export function* rows<T>(statement: Statement): Write<T[]> {
  return (yield statement) as T[]
}

export function* first<T>(statement: Statement): Write<T | undefined> {
  return (yield* rows<T>(statement))[0]
}

/** For statements that return exactly one row, such as INSERT … RETURNING. */
export function* only<T>(statement: Statement): Write<T> {
  const row = yield* first<T>(statement)
  if (row === undefined) throw new Error('the statement returned no row')
  return row
}
