/** Which runs a list shows, and what that costs: whether counters and indexes know the answer, or rows must be looked at. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { RunStatus, SourceType } from '../../contract/run.ts'
import type { Tables } from '../schema.ts'
import type { Search } from '../search.ts'

export interface RunFilter {
  status?: RunStatus | undefined
  agent_id?: number | undefined
  environment?: string | undefined
  source?: SourceType | undefined
  /** Accepted at or after this time, in milliseconds. */
  since?: number | undefined
  /** Accepted before this time. */
  until?: number | undefined
  /** Part of the task, the result or the agent's name, whatever the case. */
  q?: string | undefined
}

export const hasCounter = ({ source, since, until, q }: RunFilter): boolean =>
  source === undefined && since === undefined && until === undefined && !q

/** An agent lives in one environment; an environment with a status is the one pair without an index of its own. */
export const hasIndex = ({ status, agent_id, environment }: RunFilter): boolean =>
  agent_id !== undefined || status === undefined || environment === undefined

export const matches = (filter: RunFilter, contains: Search['contains']) => (eb: ExpressionBuilder<Tables, 'runs'>) => {
  const { status, agent_id, environment, source, since, until, q } = filter
  return eb.and([
    ...(status === undefined ? [] : [eb('status', '=', status)]),
    ...(agent_id === undefined ? [] : [eb('agent_id', '=', agent_id)]),
    ...(environment === undefined ? [] : [eb('environment_id', '=', environmentId(environment))]),
    ...(source === undefined ? [] : [eb('source_type', '=', source)]),
    ...(since === undefined ? [] : [eb('created_at', '>=', since)]),
    ...(until === undefined ? [] : [eb('created_at', '<', until)]),
    ...(q ? [eb.or([contains('agent_name', q), contains('task', q), contains('result', q)])] : []),
  ])
}

/** Runs are indexed by the number of their environment, callers know its name. */
export const environmentId = (name: string): RawBuilder<number> =>
  sql`(SELECT id FROM environments WHERE name = ${name})`
