// A history put in order: what belongs to which run, and to which call.
import type { RunDetail } from '../../src/contract/run.ts'
import type { AuditLine } from '../support/crash/audit.ts'
import type { Told } from '../support/crash/client.ts'
import type { Database, RunRow, StepRow } from '../support/crash/database.ts'
import type { LedgerLine } from '../support/ledger/line.ts'

export interface History {
  told: Told
  /** What REST said in the end. */
  records: readonly RunDetail[]
  /** Physical tool calls; physical model calls too, under the key `run:turn`, when there is a model that tells. */
  ledger: readonly LedgerLine[]
  database: Database
  /** Tools that may be repeated, by the names that agents see. */
  safe: ReadonlySet<string>
}

export interface Facts {
  runs: ReadonlyMap<number, RunRow>
  records: ReadonlyMap<number, RunDetail>
  stepsOf: ReadonlyMap<number, StepRow[]>
  auditOf: ReadonlyMap<number, AuditLine[]>
  begins: ReadonlyMap<string, LedgerLine[]>
  /** When the outcome of a step was committed, and which. */
  outcomes: ReadonlyMap<string, AuditLine>
}

export function gather({ database, records, ledger }: History): Facts {
  const outcomes = database.audit.filter(({ what }) => what === 'outcome')
  return {
    runs: new Map(database.runs.map((run) => [run.id, run])),
    records: new Map(records.map((record) => [record.id, record])),
    stepsOf: Map.groupBy(database.steps, ({ run_id }) => run_id),
    auditOf: Map.groupBy(database.audit, ({ run_id }) => run_id),
    begins: Map.groupBy(
      ledger.filter(({ phase }) => phase === 'begin'),
      ({ key }) => key,
    ),
    outcomes: new Map(outcomes.toReversed().map((line) => [`${line.run_id}:${line.key}`, line])),
  }
}

export const callKey = ({ run_id, key }: { run_id: number; key: string }) => `${run_id}:${key}`

/** What breaks a rule: the run, and a sentence that begins with it. */
type Found = Generator<[run_id: number, message: string]>
export type Rule = (history: History, facts: Facts) => Found
