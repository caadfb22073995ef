/** How a run ends: once, with everything that has to be true from then on. */
import type { RunFailure } from '../../contract/run.ts'
import { first, rows, sql, type Write } from '../statement.ts'
import { countRuns } from './counts.ts'

/** The final answer, or why there is none. */
export type Ending = { result: string; message: string } | RunFailure

export const CANCELLED: RunFailure = { code: 'CANCELLED', message: 'Cancelled on request' }

interface EndRun {
  run_id: number
  ending: Ending
  at: number
}

/** The caller has made sure that the run is its own. A run that ended before stays as it is. */
export function* endRun({ run_id, ending, at }: EndRun): Write<void> {
  const failure = 'code' in ending ? ending : null
  const result = 'result' in ending ? ending.result : null
  const status = failure ? 'error' : 'completed'
  const run = yield* first<{ agent_id: number; environment_id: number; journal_seq: number }>(sql`
    UPDATE runs SET status = ${status}, phase = NULL, owner = NULL, completed_at = ${at}, result = ${result},
      error_code = ${failure?.code ?? null}, error_message = ${failure?.message ?? null},
      message = ${ending.message}, journal_seq = journal_seq + 1
    WHERE id = ${run_id} AND status = 'running' RETURNING agent_id, environment_id, journal_seq`)
  if (!run) return
  yield* countRuns(run, 'running', -1)
  yield* countRuns(run, status, 1)
  yield* closeSteps(run_id, run.journal_seq, at)
}

/** What was under way is over: nobody knows how a tool call went; an unfinished model call is just lost. */
function* closeSteps(runId: number, journalSeq: number, at: number): Write<void> {
  const open = yield* rows<{ key: string }>(sql`
    SELECT key FROM steps WHERE run_id = ${runId} AND status = 'running' ORDER BY position`)
  let seq = journalSeq
  for (const { key } of open) {
    yield* rows(sql`
      UPDATE steps SET status = CASE type WHEN 'tool' THEN 'unknown' ELSE 'error' END, completed_at = ${at},
        seq = ${seq++}, error = 'The run ended during this step'
      WHERE run_id = ${runId} AND key = ${key}`)
  }
  // The run's own place comes after its last step: whoever has seen it has seen everything.
  if (open.length > 0) yield* rows(sql`UPDATE runs SET journal_seq = ${seq} WHERE id = ${runId}`)
}
