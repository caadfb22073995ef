/**
 * Who executes a run. A claim raises the run's epoch: from then on every write of an earlier owner touches no row.
 * It also counts, before anything is executed, how often an owner vanished with the run in its hands.
 */
import { AppError } from '../../contract/errors.ts'
import type { FirstMessage, RunPhase } from '../../contract/run.ts'
import type { OfferedTool } from '../../contract/tool.ts'
import { first, only, rows, sql, type Write } from '../statement.ts'
import { CANCELLED, endRun } from './end-write.ts'
import { FIRST_STEP, recordFirstIntent } from './journal-write.ts'
import { offeredTools } from './toolsets-write.ts'

/** A run that was there when its process died this often is not tried again. */
const MOST_CRASHES = 5

export interface ClaimedRun {
  id: number
  epoch: number
  agent_id: number
  environment_id: number
  environment: string
  model: string
  messages: FirstMessage[]
  consumed_ms: number
  timeout_seconds: number
  max_steps: number
  tools: string[] | null
  notify: boolean
  /** What an earlier attempt was offered, and this one keeps; null when none got that far. */
  toolset: OfferedTool[] | null
  steps: RecordedStep[]
}

/** A step as replay needs it. */
export interface RecordedStep {
  key: string
  /** The owner that wrote it last; our own epoch means that this attempt did. */
  epoch: number
  status: 'running' | 'completed' | 'error' | 'unknown'
  /** JSON text, read by whoever replays it. */
  output: string | null
  error: string | null
}

export interface Claim {
  /** null when there is nothing to execute: the run has ended, perhaps just now. */
  run: ClaimedRun | null
  /** What the agent allows at once today, whatever it allowed when the run was accepted. Not read for an ended run. */
  max_concurrency?: number | null
}

interface ClaimRun {
  id: number
  /** This process, this time: never the same after a restart. */
  owner: string
  at: number
}

interface RunRow {
  epoch: number
  agent_id: number
  agent_version: number
  environment_id: number
  environment: string
  model: string
  messages: string
  consumed_ms: number
  timeout_seconds: number
  steps_count: number
  crashes: number
  journal_seq: number
  started_at: number
  toolset: string | null
}

export function* claimRun({ id, owner, at }: ClaimRun): Write<Claim> {
  if (yield* takeCancelled(id)) {
    yield* endRun({ run_id: id, ending: CANCELLED, at })
    return { run: null }
  }
  const run = yield* first<RunRow>(sql`
    UPDATE runs SET owner = ${owner}, epoch = epoch + 1, attempts = attempts + 1, phase = 'executing',
      journal_seq = journal_seq + 1, started_at = COALESCE(started_at, ${at}),
      crashes = crashes + CASE WHEN owner <> ${owner} THEN 1 ELSE 0 END
    WHERE id = ${id} AND status = 'running'
    RETURNING epoch, agent_id, agent_version, environment_id, environment, model, messages, consumed_ms,
      timeout_seconds, steps_count, crashes, journal_seq, started_at, toolset`)
  if (!run) return { run: null }
  const max_concurrency = yield* limitOf(run.agent_id)
  if (run.crashes >= MOST_CRASHES) {
    const message = `The service went down ${run.crashes} times while this run was executing; it is not tried again`
    yield* endRun({ run_id: id, ending: { code: 'INTERNAL_ERROR', message }, at })
    return { run: null, max_concurrency }
  }
  return { run: yield* toClaimedRun(id, run), max_concurrency }
}

/** Hands a run back, to be taken up by whoever is next: a stop in good order is no crash. */
export function* releaseRun({ run_id, epoch }: { run_id: number; epoch: number }): Write<null> {
  yield* rows(sql`
    UPDATE runs SET owner = NULL, phase = 'recovering', journal_seq = journal_seq + 1
    WHERE id = ${run_id} AND epoch = ${epoch} AND status = 'running'`)
  return null
}

/** Marks what an owner before us left in the middle. Only for a database that one process has for itself. */
export function* markInterrupted(_input: null): Write<number> {
  const marked = yield* rows(sql`
    UPDATE runs SET phase = 'recovering', journal_seq = journal_seq + 1
    WHERE status = 'running' AND phase IN ('executing', 'waiting') RETURNING id`)
  return marked.length
}

export function* setPhase({ run_id, epoch, phase }: { run_id: number; epoch: number; phase: RunPhase }): Write<null> {
  yield* rows(sql`
    UPDATE runs SET phase = ${phase}, journal_seq = journal_seq + 1
    WHERE id = ${run_id} AND epoch = ${epoch} AND status = 'running'`)
  return null
}

/** Committed before anybody is told; who executes the run learns of it by a signal, or from the row. */
export function* requestCancel({ id, at }: { id: number; at: number }): Write<null> {
  const [asked] = yield* rows(sql`
    UPDATE runs SET cancel_requested_at = COALESCE(cancel_requested_at, ${at}), journal_seq = journal_seq + 1
    WHERE id = ${id} AND status = 'running' RETURNING id`)
  if (asked) return null
  const run = yield* first<{ status: string }>(sql`SELECT status FROM runs WHERE id = ${id}`)
  if (!run) throw runNotFound(id)
  throw new AppError('RUN_ALREADY_FINISHED', `Run ${id} has ended already (${run.status})`)
}

export const runNotFound = (id: number) => new AppError('RUN_NOT_FOUND', `Run with ID ${id} not found`)

/** Taken from whoever may have it, to be ended and not executed. */
function* takeCancelled(id: number): Write<boolean> {
  const [run] = yield* rows(sql`
    UPDATE runs SET epoch = epoch + 1
    WHERE id = ${id} AND status = 'running' AND cancel_requested_at IS NOT NULL RETURNING id`)
  return run !== undefined
}

function* toClaimedRun(id: number, run: RunRow): Write<ClaimedRun> {
  const { epoch, agent_id, agent_version, environment_id, environment, model, consumed_ms, timeout_seconds } = run
  const version = yield* only<{ max_steps: number; tools: string | null; notify: number }>(sql`
    SELECT max_steps, tools, notify FROM agent_versions WHERE agent_id = ${agent_id} AND version = ${agent_version}`)
  return {
    ...{ id, epoch, agent_id, environment_id, environment, model, consumed_ms, timeout_seconds },
    messages: JSON.parse(run.messages),
    max_steps: version.max_steps,
    tools: version.tools === null ? null : JSON.parse(version.tools),
    notify: version.notify === 1,
    toolset: run.toolset === null ? null : yield* offeredTools(run.toolset),
    steps: run.steps_count === 0 ? yield* firstStep(id, run) : yield* journalOf(id),
  }
}

/** A run begins with a model turn: its intent shares the commit of the claim. */
function* firstStep(id: number, { epoch, model, journal_seq, started_at }: RunRow): Write<RecordedStep[]> {
  yield* recordFirstIntent({ run_id: id, epoch, seq: journal_seq, at: started_at }, model)
  return [{ key: FIRST_STEP, epoch, status: 'running', output: null, error: null }]
}

function* journalOf(id: number): Write<RecordedStep[]> {
  return yield* rows<RecordedStep>(sql`
    SELECT key, epoch, status, output, error FROM steps WHERE run_id = ${id} ORDER BY position`)
}

function* limitOf(agentId: number): Write<number | null> {
  const agent = yield* first<{ max_concurrency: number | null }>(sql`
    SELECT v.max_concurrency FROM agents a
    JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.version WHERE a.id = ${agentId}`)
  return agent?.max_concurrency ?? null
}
