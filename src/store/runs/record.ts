/** A run's row as the record that leaves the service. */
import type { Run, RunFailure } from '../../contract/run.ts'
import { isoTime } from '../../contract/time.ts'
import { readJson } from '../json.ts'
import type { RunRow } from '../schema.ts'

/** What a record needs, without the texts: those a list cuts and everybody else reads whole. */
export const SHORT_COLUMNS = [
  ...(['id', 'agent_id', 'agent_name', 'agent_version', 'environment', 'status', 'phase', 'attempts'] as const),
  ...(['model', 'input_tokens', 'output_tokens', 'cost_usd', 'steps_count', 'tool_calls_count'] as const),
  ...(['created_at', 'started_at', 'completed_at', 'error_code', 'error_message', 'message', 'source'] as const),
]
export const TEXT_COLUMNS = ['variables', 'task', 'result'] as const

export type RecordRow = Pick<RunRow, (typeof SHORT_COLUMNS)[number] | (typeof TEXT_COLUMNS)[number]>

export const toRun = (row: RecordRow): Run => ({
  id: row.id,
  run_id: row.id,
  agent_id: row.agent_id,
  agent_name: row.agent_name,
  agent_version: row.agent_version,
  environment: row.environment,
  task: row.task,
  variables: readJson(row.variables),
  status: row.status,
  phase: row.phase,
  message: row.message,
  result: row.result,
  error: toFailure(row),
  model: row.model,
  usage: toUsage(row.input_tokens, row.output_tokens),
  cost_usd: row.cost_usd,
  steps_count: row.steps_count,
  tool_calls_count: row.tool_calls_count,
  attempts: row.attempts,
  source: JSON.parse(row.source),
  created_at: isoTime(row.created_at),
  started_at: timeOrNull(row.started_at),
  completed_at: timeOrNull(row.completed_at),
  duration_ms: duration(row.started_at, row.completed_at),
})

export const toUsage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
})

export const timeOrNull = (milliseconds: number | null) => (milliseconds === null ? null : isoTime(milliseconds))

/** A clock that was set back in between makes no negative durations. */
export const duration = (started: number | null, completed: number | null) =>
  started === null || completed === null ? null : Math.max(0, completed - started)

const toFailure = ({ error_code, error_message }: RecordRow): RunFailure | null =>
  error_code === null ? null : { code: error_code, message: error_message ?? '' }
