/** How an embedded database is opened. What durability rests on is set at every open and then asserted. */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/** Another program may hold the file for a moment (a backup, a shell); longer than this is an outage. */
const BUSY_TIMEOUT_MS = 1000

/**
 * Makes an empty file that only its owner may read. Before the file is a database in use, and never after:
 * closing any descriptor of a file gives up every lock that this process holds on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The file must be there: a new, empty database in place of a lost one would look like a loss of everything. */
export function openWriter(file: string): DatabaseSync {
  const existing = pathToFileURL(file)
  existing.searchParams.set('mode', 'rw')
  const db = new DatabaseSync(existing, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
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
  // SQLite's own knows ASCII only; a search for "ärger" has to find "Ärger".
  db.function('lower', { deterministic: true }, (text) => (text === null ? null : String(text).toLowerCase()))
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
