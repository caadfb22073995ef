// The database file as it lies on the disk, read behind the service's back. Only after the service has stopped.
import { DatabaseSync } from 'node:sqlite'
import type { AuditLine } from './audit.ts'

export interface RunRow {
  id: number
  agent_id: number
  status: string
  phase: string | null
  epoch: number
  attempts: number
  crashes: number
  consumed_ms: number
  journal_seq: number
  steps_count: number
  tool_calls_count: number
  error_code: string | null
  error_message: string | null
  variables: string
}

export interface StepRow {
  run_id: number
  key: string
  position: number
  seq: number
  epoch: number
  type: 'model' | 'tool'
  name: string
  status: string
  attempts: number
  error: string | null
  output: string | null
}

export interface Database {
  runs: RunRow[]
  steps: StepRow[]
  counts: { agent_id: number; status: string; count: number }[]
  /** The answer that is kept for a request key. */
  keys: { key: string; response: string }[]
  audit: AuditLine[]
  /** What SQLite finds wrong with the file. */
  damage: string[]
}

const RUNS = `SELECT id, agent_id, status, phase, epoch, attempts, crashes, consumed_ms, journal_seq, steps_count,
  tool_calls_count, error_code, error_message, variables FROM runs ORDER BY id`
const STEPS = `SELECT run_id, key, position, seq, epoch, type, name, status, attempts, error, output FROM steps
  ORDER BY run_id, position`
const AUDIT = `SELECT life, at, what, run_id, key, before, after, epoch, run_epoch, run_status FROM audit ORDER BY n`

export function readDatabase(file: string): Database {
  using db = new DatabaseSync(file, { readOnly: true })
  const all = <Row>(sql: string) => db.prepare(sql).all() as Row[]
  const integrity = all<{ integrity_check: string }>('PRAGMA integrity_check').map((row) => row.integrity_check)
  const orphans = all('PRAGMA foreign_key_check').map((row) => JSON.stringify(row))
  return {
    runs: all(RUNS),
    steps: all(STEPS),
    counts: all('SELECT agent_id, status, count FROM run_counts'),
    keys: all('SELECT key, response FROM idempotency_keys'),
    audit: all(AUDIT),
    damage: [...integrity.filter((line) => line !== 'ok'), ...orphans],
  }
}
