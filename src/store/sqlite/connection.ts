/** How an embedded database is opened. What durability rests on is set at every open and then asserted. */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Another program may hold the file for a moment (a backup, a shell); longer than this is an outage. */
const BUSY_TIMEOUT_MS = 1000

export function openWriter(file: string): DatabaseSync {
  closeSync(openSync(file, 'a', 0o600))
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
  try {
    db.exec('PRAGMA journal_mode = WAL')
    db.exec('PRAGMA synchronous = FULL')
    // On macOS fsync stops at the drive's cache; elsewhere these two change nothing.
    db.exec('PRAGMA fullfsync = ON')
    db.exec('PRAGMA checkpoint_fullfsync = ON')
    assertDurable(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function openReader(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  db.exec('PRAGMA query_only = ON')
  return db
}

const FULL = 2

function assertDurable(db: DatabaseSync): void {
  const journal = db.prepare('PRAGMA journal_mode').get()?.journal_mode
  const synchronous = db.prepare('PRAGMA synchronous').get()?.synchronous
  if (journal !== 'wal' || synchronous !== FULL) {
    throw new Error(`the database is not durable: journal_mode=${journal} synchronous=${synchronous}`)
  }
}
