// Made-up next migrations: one that moves data into another shape, as a later release would.
import { MIGRATIONS, type Migration } from '../../../src/store/migrations/all.ts'

const movesData: Migration = ({ identity, integer }) => [
  `CREATE TABLE labels (id ${identity}, agent_id ${integer} NOT NULL, label TEXT NOT NULL)`,
  'INSERT INTO labels (agent_id, label) SELECT id, name FROM agents ORDER BY id',
  'CREATE INDEX labels_by_agent ON labels (agent_id)',
  'ALTER TABLE environments ADD COLUMN labels_count INTEGER NOT NULL DEFAULT 0',
  `UPDATE environments SET labels_count =
    (SELECT count(*) FROM labels JOIN agents ON agents.id = agent_id WHERE environment_id = environments.id)`,
  'DROP INDEX agents_listed',
]

/** The schema that this program knows, and the one after it. */
export const THIS = MIGRATIONS.length
export const NEXT = THIS + 1

/** By the number of migrations that a program of that age knows. */
export const HISTORY: readonly (readonly Migration[])[] = [
  ...MIGRATIONS.map((_, age) => MIGRATIONS.slice(0, age)),
  MIGRATIONS,
  [...MIGRATIONS, movesData],
]
