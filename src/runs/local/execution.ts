/** One run in execution: what it sees of its dispatcher, how it is broken off, and that it is tried again when it fails. */
import type { Log } from '../../telemetry/log.ts'
import { type Control, type Execute, RunAborted } from '../dispatch.ts'
import type { FairQueue } from './fair-queue.ts'
import { createSlot } from './slot.ts'

const RETRY_MS = 1000
const MOST_RETRIES = 5

export interface Execution {
  /** Resolves when there is nothing more to do. Never rejects. */
  run(): Promise<void>
  /** The slot that it waits for. */
  giveSlot(): void
  stopWaiting(): void
  abort(reason: RunAborted): void
}

interface ExecutionParts {
  run: { id: number; agentId: number }
  hasSlot: boolean
  execute: Execute
  queue: FairQueue
  pump: () => void
  /** Aborted when the service stops. */
  stop: AbortSignal
  log: Log
}

export function createExecution({ run, hasSlot, execute, queue, pump, stop, log }: ExecutionParts): Execution {
  let isOver = false
  let attempt = new AbortController()
  const stopping = () => stop.aborted
  const mayWait = () => !isOver && !attempt.signal.aborted && !stopping()
  const slot = createSlot({ queue, pump, run, isHeld: hasSlot, mayWait })
  const isOverShare = () => slot.isHeld() && !stopping() && queue.isOverShare(run.agentId)

  async function giveWay(controller: AbortController): Promise<void> {
    slot.giveBack()
    await slot.regain()
    if (!slot.isHeld() && stopping()) controller.abort(new RunAborted('stopped'))
    controller.signal.throwIfAborted()
  }

  const controlOf = (controller: AbortController): Control => ({
    signal: controller.signal,
    stopping,
    isOverShare,
    learnLimit(max) {
      queue.setLimit(run.agentId, max)
      pump()
    },
    async yieldSlot() {
      controller.signal.throwIfAborted()
      if (!slot.isHeld() || isOverShare()) await giveWay(controller)
    },
    withoutSlot: slot.without,
  })

  async function isDone(): Promise<boolean> {
    attempt = new AbortController()
    try {
      await execute(run.id, controlOf(attempt))
      return true
    } catch (error) {
      log.error({ run_id: run.id, err: error }, 'the run could not be executed')
      return false
    }
  }

  async function untilDone(): Promise<void> {
    for (let retries = 0; !(await isDone()); retries++) {
      if (retries === MOST_RETRIES) return log.error({ run_id: run.id }, 'the run is left alone until the next start')
      // From here on an abort ends the pause and the wait for a slot; the next attempt finds the reason in the row.
      attempt = new AbortController()
      await slot.without(() => pause(RETRY_MS, AbortSignal.any([attempt.signal, stop])))
      if (stopping()) return
    }
  }

  return {
    async run() {
      queue.begin(run.agentId)
      await untilDone()
      isOver = true
      // What still waits for the slot on its own was left behind: a slot that came later would begin the run again.
      slot.stopWaiting()
      slot.giveBack()
      queue.end(run.agentId)
    },
    giveSlot: slot.arrive,
    stopWaiting: slot.stopWaiting,
    abort(reason) {
      attempt.abort(reason)
      slot.stopWaiting()
    },
  }
}

function pause(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (until.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    until.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true })
  })
}
