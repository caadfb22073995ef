/**
 * Brings an embedded database to this program's schema. Each migration is one transaction that also moves
 * `user_version`, so a process killed at any statement leaves the old schema or the new one, never between.
 */
import type { DatabaseSync } from 'node:sqlite'
import { EXIT } from '../../contract/exit-codes.ts'
import { StartError } from '../../contract/start-error.ts'
import { MIGRATIONS, type Migration } from '../migrations/all.ts'
import { SQLITE } from '../migrations/dialect.ts'

export interface MigrateOptions {
  migrations?: readonly Migration[]
  /** Called before each statement: where a test pulls the plug. */
  onStatement?: (statement: string) => void
}

export function migrate(db: DatabaseSync, { migrations = MIGRATIONS, onStatement }: MigrateOptions = {}): void {
  const version = schemaVersion(db)
  if (version > migrations.length) throw newerSchema(version, migrations.length)
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue
    const statements = ['BEGIN IMMEDIATE', ...migration(SQLITE), `PRAGMA user_version = ${index + 1}`, 'COMMIT']
    for (const statement of statements) {
      onStatement?.(statement)
      db.exec(statement)
    }
  }
}

const schemaVersion = (db: DatabaseSync) => Number(db.prepare('PRAGMA user_version').get()?.user_version)

const newerSchema = (found: number, known: number) =>
  new StartError(
    `the database was written by a newer version (schema ${found}; this program knows ${known}). ` +
      'Start the newer version, or restore a backup made before the upgrade.',
    EXIT.refusedDowngrade,
  )
