/** How a run comes to be: its row, its count and its idempotency key in one transaction, or none of them. */
import { AppError } from '../../contract/errors.ts'
import type { FirstMessage, RunAccepted, RunSource } from '../../contract/run.ts'
import { first, only, rows, sql, type Write } from '../statement.ts'
import { countRuns } from './counts.ts'

const KEPT_MS = 24 * 60 * 60 * 1000
/** Raised when old journals can no longer be replayed by new code. */
const JOURNAL_VERSION = 1

export interface RequestKey {
  principal: string
  route: string
  key: string
  body_hash: string
}

export interface AcceptRun {
  agent: { id: number; name: string; version: number; environment_id: number; environment: string }
  task: string
  variables: Record<string, string>
  messages: FirstMessage[]
  model: string
  timeout_seconds: number
  callback_url: string | null
  source: RunSource
  request_key: RequestKey | null
  /** No room in the queue: only a repeated request still gets its answer. */
  full: boolean
  at: number
}

interface Accepted {
  answer: RunAccepted
  /** The answer of an earlier request with the same key; nothing was stored now. */
  replayed: boolean
}

export interface StoredAnswer {
  body_hash: string
  response: string
  created_at: number
}

export function* acceptRun(input: AcceptRun): Write<Accepted> {
  const { agent, request_key, at } = input
  const earlier = request_key && (yield* earlierAnswer(request_key, at))
  if (earlier) return { answer: earlier, replayed: true }
  if (input.full) throw queueFull()
  const { id } = yield* insertRun(input)
  yield* countRuns({ agent_id: agent.id, environment_id: agent.environment_id }, 'running', 1)
  const answer: RunAccepted = {
    ...{ run_id: id, agent_id: agent.id, agent_name: agent.name, status: 'running' },
    message: ACCEPTED,
  }
  if (request_key) yield* keepAnswer(request_key, answer, at)
  return { answer, replayed: false }
}

/** Keys that nobody can repeat any more, a few at a time. */
export function* forgetRequestKeys({ at, limit }: { at: number; limit: number }): Write<number> {
  const gone = yield* rows<{ key: string }>(sql`
    DELETE FROM idempotency_keys WHERE (principal, route, key) IN (
      SELECT principal, route, key FROM idempotency_keys
      WHERE created_at <= ${at - KEPT_MS} ORDER BY created_at LIMIT ${limit})
    RETURNING key`)
  return gone.length
}

/** The same answer for the same request; another request under the same key is a mistake of the caller. */
export function answerAgain(stored: StoredAnswer, bodyHash: string, at: number): RunAccepted | undefined {
  if (stored.created_at <= at - KEPT_MS) return undefined
  if (stored.body_hash === bodyHash) return JSON.parse(stored.response)
  const message = 'This Idempotency-Key was used with another request; use a new one'
  throw new AppError('IDEMPOTENCY_KEY_REUSED', message)
}

const queueFull = () =>
  new AppError('QUEUE_FULL', 'Too many runs are waiting; try again later, or raise SVC_MAX_QUEUED_RUNS')

const ACCEPTED = 'The run is accepted and executes in the background'

function* earlierAnswer({ principal, route, key, body_hash }: RequestKey, at: number): Write<RunAccepted | undefined> {
  const stored = yield* first<StoredAnswer>(sql`
    SELECT body_hash, response, created_at FROM idempotency_keys
    WHERE principal = ${principal} AND route = ${route} AND key = ${key}`)
  return stored && answerAgain(stored, body_hash, at)
}

function* keepAnswer({ principal, route, key, body_hash }: RequestKey, answer: RunAccepted, at: number): Write<void> {
  yield* rows(sql`
    INSERT INTO idempotency_keys (principal, route, key, body_hash, response, created_at)
    VALUES (${principal}, ${route}, ${key}, ${body_hash}, ${JSON.stringify(answer)}, ${at})
    ON CONFLICT (principal, route, key) DO UPDATE
    SET body_hash = excluded.body_hash, response = excluded.response, created_at = excluded.created_at`)
}

function* insertRun({ agent, source, ...run }: AcceptRun): Write<{ id: number }> {
  return yield* only<{ id: number }>(sql`
    INSERT INTO runs (agent_id, agent_name, agent_version, environment_id, environment, status, phase,
      timeout_seconds, journal_version, model, cost_usd, source_type, principal, created_at, message, callback_url,
      source, variables, task, messages)
    VALUES (${agent.id}, ${agent.name}, ${agent.version}, ${agent.environment_id}, ${agent.environment},
      'running', 'queued', ${run.timeout_seconds}, ${JOURNAL_VERSION}, ${run.model}, 0, ${source.type},
      ${source.principal}, ${run.at}, ${ACCEPTED}, ${run.callback_url}, ${JSON.stringify(source)},
      ${JSON.stringify(run.variables)}, ${run.task}, ${JSON.stringify(run.messages)})
    RETURNING id`)
}
