/** How the steps of a run are read. */
import type { Kysely } from 'kysely'
import type { Step } from '../../contract/run.ts'
import { isoTime } from '../../contract/time.ts'
import { readJson } from '../json.ts'
import type { StepRow, Tables } from '../schema.ts'
import { FIRST_STEP } from './journal-write.ts'
import { duration, timeOrNull, toUsage } from './record.ts'

export interface JournalledStep {
  seq: number
  step: Step
}

/** All steps of a run, in the order in which they began. */
export async function readSteps(db: Kysely<Tables>, runId: number): Promise<Step[]> {
  const rows = await stepsOf(db, runId).orderBy('position').execute()
  return withFirstInput(db, runId, rows)
}

/** The steps that were written behind one place of the journal, up to another, in the order of the journal. */
export async function readJournal(db: Kysely<Tables>, runId: number, after: number, upTo: number) {
  const news = stepsOf(db, runId).where('seq', '>', after).where('seq', '<=', upTo)
  const rows = await news.orderBy('seq').execute()
  const steps = await withFirstInput(db, runId, rows)
  return steps.map((step, index): JournalledStep => ({ seq: rows[index]?.seq ?? upTo, step }))
}

const COLUMNS = [
  ...(['key', 'position', 'seq', 'type', 'name', 'server', 'status', 'attempts', 'input_tokens'] as const),
  ...(['output_tokens', 'started_at', 'completed_at', 'error', 'input', 'output'] as const),
]
type JournalRow = Pick<StepRow, (typeof COLUMNS)[number]>

const stepsOf = (db: Kysely<Tables>, runId: number) =>
  db.selectFrom('steps').select(COLUMNS).where('run_id', '=', runId)

/** Prompts are derived, not stored: only the first turn shows one, and it stands with the run. */
async function withFirstInput(db: Kysely<Tables>, runId: number, rows: JournalRow[]): Promise<Step[]> {
  if (!rows.some(({ key }) => key === FIRST_STEP)) return rows.map(toStep)
  const run = await db.selectFrom('runs').select('messages').where('id', '=', runId).executeTakeFirst()
  const messages = run ? JSON.parse(run.messages) : []
  return rows.map((row) => (row.key === FIRST_STEP ? { ...toStep(row), input: { messages } } : toStep(row)))
}

const toStep = (row: JournalRow): Step => ({
  index: row.position,
  type: row.type,
  name: row.name,
  server: row.server,
  status: row.status,
  input: parsed(row.input),
  output: parsed(row.output),
  error: row.error,
  usage: row.input_tokens === null ? null : toUsage(row.input_tokens, row.output_tokens ?? 0),
  attempts: row.attempts,
  started_at: isoTime(row.started_at),
  completed_at: timeOrNull(row.completed_at),
  duration_ms: duration(row.started_at, row.completed_at),
})

const parsed = (json: string | null): unknown => (json === null ? null : readJson(json))
