/**
 * The journal of a run: what it is about to do, and what came of it. Whatever belongs together is one transaction.
 * Recording the same twice changes nothing, so a writer that is not sure whether a commit happened may try again.
 */

import { first, rows, sql, type Write } from '../statement.ts'
import { CANCELLED, type Ending, endRun } from './end-write.ts'
import { keepToolset, type OfferedToolset } from './toolsets-write.ts'

export interface Intent {
  kind: 'intent'
  key: string
  position: number
  type: 'model' | 'tool'
  name: string
  server: string | null
  /** JSON text. */
  input: string | null
}

export interface Outcome {
  kind: 'outcome'
  key: string
  status: 'completed' | 'error' | 'unknown'
  /** JSON text. */
  output: string | null
  error: string | null
  usage: { input_tokens: number; output_tokens: number; cost_usd: number | null } | null
  /** Tries beyond the first that were made without a record of their own. */
  retries: number
}

/** A step whose outcome was never recorded is done again. */
interface Again {
  kind: 'again'
  key: string
}

export type Entry = Intent | Outcome | Again

interface RecordSteps {
  run_id: number
  epoch: number
  consumed_ms: number
  entries: Entry[]
  ending: Ending | null
  /** What the run is offered from now on, recorded with the first thing that it did with it. */
  toolset?: OfferedToolset | null
  at: number
}

export interface Recorded {
  /** False: another owner has the run now, and nothing was written. */
  owned: boolean
  cancel_requested: boolean
}

interface Totals {
  input_tokens: number
  output_tokens: number
  cost_usd: number | null
  steps: number
  tool_calls: number
}

export function* recordSteps(input: RecordSteps): Write<Recorded> {
  const { run_id, epoch, consumed_ms, entries, ending, toolset = null, at } = input
  const run = yield* first<{ journal_seq: number; cancel_requested_at: number | null }>(sql`
    UPDATE runs SET journal_seq = journal_seq + ${entries.length}, consumed_ms = ${consumed_ms},
      toolset = COALESCE(toolset, ${toolset?.hash ?? null})
    WHERE id = ${run_id} AND epoch = ${epoch} AND status = 'running' RETURNING journal_seq, cancel_requested_at`)
  if (!run) return { owned: ending !== null && (yield* endedBy(run_id, epoch)), cancel_requested: false }
  if (toolset) yield* keepToolset(toolset, at)
  const totals = noTotals()
  let seq = run.journal_seq - entries.length
  for (const entry of entries) yield* record({ run_id, epoch, seq: ++seq, at }, entry, totals)
  yield* addTotals(run_id, totals)
  const cancel_requested = run.cancel_requested_at !== null
  // Whoever was told that the run is being cancelled finds it cancelled, even when it was about to end by itself.
  if (ending) yield* endRun({ run_id, ending: cancel_requested ? CANCELLED : ending, at })
  return { owned: true, cancel_requested }
}

const noTotals = (): Totals => ({ input_tokens: 0, output_tokens: 0, cost_usd: 0, steps: 0, tool_calls: 0 })

interface Place {
  run_id: number
  epoch: number
  seq: number
  at: number
}

function* record({ run_id, epoch, seq, at }: Place, entry: Entry, totals: Totals): Write<void> {
  if (entry.kind === 'intent') {
    const [inserted] = yield* rows(sql`
      INSERT INTO steps (run_id, key, position, seq, epoch, type, name, server, status, started_at, input)
      VALUES (${run_id}, ${entry.key}, ${entry.position}, ${seq}, ${epoch}, ${entry.type}, ${entry.name},
        ${entry.server}, 'running', ${at}, ${entry.input})
      ON CONFLICT (run_id, key) DO NOTHING RETURNING key`)
    if (inserted) totals[entry.type === 'tool' ? 'tool_calls' : 'steps'] += 1
  } else if (entry.kind === 'again') {
    yield* rows(sql`
      UPDATE steps SET attempts = attempts + 1, seq = ${seq}, epoch = ${epoch}
      WHERE run_id = ${run_id} AND key = ${entry.key} AND status = 'running' AND epoch < ${epoch}`)
  } else yield* settle({ run_id, epoch, seq, at }, entry, totals)
}

/** The model turn that every run begins with. */
export const FIRST_STEP = '1'

export function* recordFirstIntent(place: Place, model: string): Write<void> {
  const totals = noTotals()
  const intent = { key: FIRST_STEP, position: 0, type: 'model', name: model, server: null, input: null } as const
  yield* record(place, { kind: 'intent', ...intent }, totals)
  yield* addTotals(place.run_id, totals)
}

function* settle({ run_id, epoch, seq, at }: Place, outcome: Outcome, totals: Totals): Write<void> {
  const { usage } = outcome
  const [settled] = yield* rows(sql`
    UPDATE steps SET status = ${outcome.status}, output = ${outcome.output}, error = ${outcome.error},
      input_tokens = ${usage?.input_tokens ?? null}, output_tokens = ${usage?.output_tokens ?? null},
      cost_usd = ${usage?.cost_usd ?? null}, attempts = attempts + ${outcome.retries}, completed_at = ${at},
      seq = ${seq}, epoch = ${epoch}
    WHERE run_id = ${run_id} AND key = ${outcome.key} AND status = 'running' RETURNING key`)
  if (!settled || !usage) return
  totals.input_tokens += usage.input_tokens
  totals.output_tokens += usage.output_tokens
  totals.cost_usd = totals.cost_usd === null || usage.cost_usd === null ? null : totals.cost_usd + usage.cost_usd
}

/** A cost that is not known makes the whole sum unknown, and NULL in SQL does just that. */
function* addTotals(runId: number, { input_tokens, output_tokens, cost_usd, steps, tool_calls }: Totals): Write<void> {
  if (input_tokens + output_tokens + steps + tool_calls === 0 && cost_usd === 0) return
  yield* rows(sql`
    UPDATE runs SET input_tokens = input_tokens + ${input_tokens}, output_tokens = output_tokens + ${output_tokens},
      cost_usd = cost_usd + ${cost_usd}, steps_count = steps_count + ${steps + tool_calls},
      tool_calls_count = tool_calls_count + ${tool_calls}
    WHERE id = ${runId}`)
}

/** An end whose commit was never confirmed may have been ours all along. */
function* endedBy(runId: number, epoch: number): Write<boolean> {
  const run = yield* first<{ epoch: number }>(sql`SELECT epoch FROM runs WHERE id = ${runId}`)
  return run?.epoch === epoch
}
