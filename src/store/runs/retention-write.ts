/** How old runs go: a slice at a time, so that nobody waits behind a large removal. */
import type { RunStatus } from '../../contract/run.ts'
import { rows, sql, type Write } from '../statement.ts'
import { countRuns } from './counts.ts'

interface RemoveRuns {
  ended_before: number
  limit: number
}

interface Removed {
  agent_id: number
  environment_id: number
  status: RunStatus
}

/** Returns how many went; their steps go with them. */
export function* removeEndedRuns({ ended_before, limit }: RemoveRuns): Write<number> {
  const removed = yield* rows<Removed>(sql`
    DELETE FROM runs WHERE status <> 'running' AND id IN (
      SELECT id FROM runs WHERE completed_at < ${ended_before} ORDER BY completed_at LIMIT ${limit})
    RETURNING agent_id, environment_id, status`)
  for (const run of removed) yield* countRuns(run, run.status, -1)
  return removed.length
}
