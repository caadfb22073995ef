/**
 * Executes one run, from its claim to its end, knowing nothing of queues or of the kind of database.
 * Whatever happens here ends in one of three ways: the run has its terminal status, it was let go of for somebody
 * else to go on with, or it is somebody else's already.
 */
import type { Clock } from '../../clock.ts'
import type { RunFailure } from '../../contract/run.ts'
import type { Tool } from '../../contract/tool.ts'
import { ModelFailure, type Models } from '../../models/models.ts'
import type { ClaimedRun } from '../../store/runs/claim-write.ts'
import { CANCELLED } from '../../store/runs/end-write.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../../telemetry/log.ts'
import { type Toolset, ToolsUnavailable } from '../../tools/toolset.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import { type Control, type Execute, RunAborted } from '../dispatch.ts'
import type { Feed } from '../watch.ts'
import { converse } from './converse.ts'
import { type Journal, openJournal } from './journal.ts'
import { startMeter } from './meter.ts'
import { isOutage, persist } from './persist.ts'

/** How often a long step says that it is still at work. */
const BEAT_MS = 10_000

export interface ExecuteParts {
  store: Store
  models: Models
  tools: Toolset
  feed: Feed
  clock: Clock
  /** This process, this time. */
  owner: string
  log: Log
}

export function createExecute(parts: ExecuteParts): Execute {
  const { store, feed, clock, owner } = parts
  return async (id, control) => {
    const claim = await persist(() => store.write('claimRun', { id, owner, at: clock.now() }), control.stopping)
    if (claim.run) feed.changed(id)
    else feed.ended(id)
    if (claim.max_concurrency !== undefined) control.learnLimit(claim.max_concurrency)
    if (claim.run) await perform(claim.run, control, parts)
  }
}

async function perform(run: ClaimedRun, control: Control, { store, models, tools, feed, clock, log }: ExecuteParts) {
  const own = new AbortController()
  const signal = AbortSignal.any([control.signal, own.signal])
  const { consumed_ms, timeout_seconds } = run
  const onLimit = () => own.abort(new RunAborted('timeout'))
  const meter = startMeter({ clock, consumed_ms, limit_ms: timeout_seconds * 1000, onLimit })
  const journal = openJournal({ run, store, clock, meter, feed, stopping: control.stopping })
  const beat = everyNowAndThen(() => journal.beat().catch((error) => own.abort(error)))

  const waiting = async (isWaiting: boolean) => {
    const phase = isWaiting ? 'waiting' : 'executing'
    await persist(() => store.write('setPhase', { run_id: run.id, epoch: run.epoch, phase }), control.stopping)
    feed.changed(run.id)
  }
  try {
    const available = await unlessAborted(signal, toolsOf(run, tools, journal))
    const ending = await converse({ run, journal, meter, models, tools: available, control, signal, waiting })
    await journal.end(ending)
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error
    // Whatever is still under way has nobody left to answer to.
    own.abort(reason)
    await settle(reason, { run, control, journal, log }).catch((failure) => {
      if (!isSuperseded(failure)) throw failure
      log.warn({ run_id: run.id, epoch: run.epoch }, TAKEN_OVER)
    })
  } finally {
    clearInterval(beat)
    meter.pause()
  }
}

/** A run keeps the tools that it began with, whatever has become of their servers since. */
async function toolsOf(run: ClaimedRun, tools: Toolset, journal: Journal): Promise<Tool[]> {
  if (run.toolset) return tools.bind(run.toolset, run)
  const offered = await tools.offerTo(run)
  journal.freeze(offered)
  return tools.bind(offered, run)
}

interface Settling {
  run: ClaimedRun
  control: Control
  journal: Journal
  log: Log
}

async function settle(error: unknown, { run, control, journal, log }: Settling): Promise<void> {
  if (error instanceof RunAborted && error.reason === 'stopped') return journal.release()
  if (isSuperseded(error)) throw error
  if (isOutage(error)) {
    // Whoever dispatches tries it again; at a stop it goes on from its journal at the next start.
    if (!control.stopping()) throw error
    return log.warn({ run_id: run.id, err: error }, 'the run could not be recorded')
  }
  const failure = toFailure(error, run)
  if (failure.code === 'INTERNAL_ERROR') log.error({ run_id: run.id, err: error }, 'the run failed')
  await journal.end(failure)
}

const TAKEN_OVER = 'another owner has taken the run over'

const isSuperseded = (error: unknown) => error instanceof RunAborted && error.reason === 'superseded'

/** One at a time: in a long outage they would only pile up. */
function everyNowAndThen(work: () => Promise<void>): NodeJS.Timeout {
  let isUnderWay = false
  return setInterval(async () => {
    if (isUnderWay) return
    isUnderWay = true
    await work()
    isUnderWay = false
  }, BEAT_MS)
}

function toFailure(error: unknown, run: ClaimedRun): RunFailure {
  if (error instanceof RunAborted) {
    return error.reason === 'timeout'
      ? { code: 'RUN_TIMEOUT', message: `The run took longer than ${run.timeout_seconds} s (timeout_seconds)` }
      : CANCELLED
  }
  if (error instanceof ModelFailure) return { code: 'MODEL_ERROR', message: error.message }
  if (error instanceof ToolsUnavailable) return { code: 'TOOLS_UNAVAILABLE', message: error.message }
  return {
    code: 'INTERNAL_ERROR',
    message: 'The run failed because of a mistake in the service; its log has the details',
  }
}
