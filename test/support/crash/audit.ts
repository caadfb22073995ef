// What really happened in the database, written by the database itself: triggers note every change of a run and of its
// steps in the transaction that makes it. No kill can come between a change and its note.
import { DatabaseSync } from 'node:sqlite'

export interface AuditLine {
  /** The life of the service in which it was committed, counted from 1. */
  life: number
  /** Milliseconds since 1970. */
  at: number
  what: 'accept' | 'claim' | 'ending' | 'intent' | 'again' | 'outcome' | 'time-went-back'
  run_id: number
  /** The step; empty when it is about the run. */
  key: string
  before: string | null
  after: string | null
  /** Of the writer, as far as the row tells. */
  epoch: number
  /** Of the run at that moment. */
  run_epoch: number
  /** The status of the run at that moment. */
  run_status: string
}

const RUN = '(SELECT epoch FROM runs WHERE id = NEW.run_id), (SELECT status FROM runs WHERE id = NEW.run_id)'
const note = (what: AuditLine['what'], values: string) =>
  `INSERT INTO audit (life, at, what, run_id, key, before, after, epoch, run_epoch, run_status)
   VALUES ((SELECT life FROM audit_life), round(unixepoch('subsec') * 1000), '${what}', ${values})`
const trigger = (name: string, event: string, statement: string) =>
  `CREATE TRIGGER audit_${name} AFTER ${event} BEGIN ${statement}; END`
const aboutRun = (before: string) => `NEW.id, '', ${before}, NEW.status, NEW.epoch, NEW.epoch, NEW.status`
const aboutStep = (before: string) => `NEW.run_id, NEW.key, ${before}, NEW.status, NEW.epoch, ${RUN}`

const SCHEMA = [
  'CREATE TABLE audit_life (life INTEGER NOT NULL)',
  'INSERT INTO audit_life VALUES (0)',
  `CREATE TABLE audit (n INTEGER PRIMARY KEY, life INTEGER NOT NULL, at INTEGER NOT NULL, what TEXT NOT NULL,
    run_id INTEGER NOT NULL, key TEXT NOT NULL, before TEXT, after TEXT, epoch INTEGER, run_epoch INTEGER, run_status TEXT)`,
  trigger('accept', 'INSERT ON runs', note('accept', aboutRun('NULL'))),
  trigger('claim', 'UPDATE OF owner ON runs WHEN NEW.epoch <> OLD.epoch', note('claim', aboutRun('OLD.status'))),
  // Fires whenever a statement sets the column, also to what it was.
  trigger('ending', 'UPDATE OF status ON runs', note('ending', aboutRun('OLD.status'))),
  trigger(
    'time',
    'UPDATE OF consumed_ms ON runs WHEN NEW.consumed_ms < OLD.consumed_ms',
    note('time-went-back', aboutRun('OLD.consumed_ms')),
  ),
  trigger('intent', 'INSERT ON steps', note('intent', aboutStep('NULL'))),
  trigger('outcome', 'UPDATE OF status ON steps', note('outcome', aboutStep('OLD.status'))),
  trigger('again', "UPDATE OF epoch ON steps WHEN NEW.status = 'running'", note('again', aboutStep('OLD.status'))),
]

/** At the start of each life, before the store writes anything. */
export function beginLife(file: string, life: number): void {
  using db = new DatabaseSync(file, { timeout: 5000 })
  const isNew = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit'").all().length === 0
  db.exec('BEGIN IMMEDIATE')
  for (const statement of isNew ? SCHEMA : []) db.exec(statement)
  db.exec(`UPDATE audit_life SET life = ${life}`)
  db.exec('COMMIT')
}
