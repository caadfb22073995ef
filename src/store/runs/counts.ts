/** How many runs there are, by agent and status: kept as they change, so that no list ever counts a million rows. */
import type { RunStatus } from '../../contract/run.ts'
import { rows, sql, type Write } from '../statement.ts'

interface Counted {
  agent_id: number
  environment_id: number
}

export function* countRuns({ agent_id, environment_id }: Counted, status: RunStatus, change: number): Write<void> {
  yield* rows(sql`
    INSERT INTO run_counts (agent_id, status, environment_id, count)
    VALUES (${agent_id}, ${status}, ${environment_id}, ${change})
    ON CONFLICT (agent_id, status) DO UPDATE SET count = run_counts.count + excluded.count`)
}
