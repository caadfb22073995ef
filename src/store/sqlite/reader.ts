/** Kysely over a read-only node:sqlite handle. A handle that cannot write cannot break a transaction either. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { Kysely, SqliteDialect, type SqliteStatement } from 'kysely'
import type { Tables } from '../schema.ts'
import { openReader } from './connection.ts'
import { isStorageFailure, storageUnavailable } from './failure.ts'

export interface Reader {
  db: Kysely<Tables>
  close(): void
}

export function createReader(file: string): Reader {
  const handle = openReader(file)
  const close = () => handle.close()
  const database = { prepare: preparing(handle), close }
  return { db: new Kysely<Tables>({ dialect: new SqliteDialect({ database }) }), close }
}

/** Statements are prepared once by text; the queries of this service are few and fixed. */
function preparing(db: DatabaseSync): (sql: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>()
  return (sql) => {
    const known = prepared.get(sql)
    if (known) return known
    const statement = toKysely(guarded(() => db.prepare(sql)))
    prepared.set(sql, statement)
    return statement
  }
}

const toKysely = (statement: StatementSync): SqliteStatement => ({
  reader: true,
  all: (values) => guarded(() => statement.all(...(values as SQLInputValue[]))),
  run: (values) => guarded(() => statement.run(...(values as SQLInputValue[]))),
  iterate: (values) => guarded(() => statement.iterate(...(values as SQLInputValue[]))),
})

function guarded<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw isStorageFailure(error) ? storageUnavailable(error) : error
  }
}
