// What the tests look up in the database file itself, behind the store's back.
import { DatabaseSync } from 'node:sqlite'

export type Rows = Record<string, unknown>[]

/** Only for a file that no store of this process has open: closing a file drops this process's locks on it. */
export function query(file: string, sql: string): Rows {
  const db = new DatabaseSync(file)
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

export function schemaOf(file: string) {
  const rows = query(file, 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name')
  return { rows, version: query(file, 'PRAGMA user_version')[0]?.user_version }
}
