/**
 * Executes runs in this process: at once when there is a slot, else when their agent's turn comes. Nothing is polled to
 * start a run; a slow sweep finds those that nobody told about, because the row is the truth and a call only a hint.
 */
import type { AgentReads } from '../../store/agents.ts'
import type { RunReads, WaitingRun } from '../../store/runs/reads.ts'
import type { Writer } from '../../store/writes.ts'
import type { Log } from '../../telemetry/log.ts'
import { type Dispatcher, type Execute, RunAborted } from '../dispatch.ts'
import { createExecution, type Execution } from './execution.ts'
import { createFairQueue } from './fair-queue.ts'
import { createSweep } from './sweep.ts'

/** For the cancel of a run that nobody has in hand: it takes no slot, so it counts for no agent. */
const NOBODY = 0
/** What ignores its signal for longer than this is left behind. */
const LAST_WORD_MS = 1000

interface LocalParts {
  store: { runs: Pick<RunReads, 'waiting'>; agents: Pick<AgentReads, 'find'>; write: Writer }
  execute: Execute
  /** Runs that execute at once. */
  slots: number
  /** Runs that may wait. */
  maxQueued: number
  log: Log
}

export function createLocalDispatcher({ store, execute, slots, maxQueued, log }: LocalParts): Dispatcher {
  const queue = createFairQueue(slots)
  const executions = new Map<number, Execution>()
  const stop = new AbortController()
  const empty = Promise.withResolvers<void>()
  let reserved = 0
  let isStarted = false
  let isPumping = false
  let stopped: Promise<void> | undefined

  const enqueue = ({ id, agent_id, interrupted }: WaitingRun) => {
    if (!executions.has(id)) queue.add(agent_id, id, interrupted ? 'front' : 'back')
  }

  /** Fills the free slots. What happens meanwhile is seen by the same loop, so that it never calls itself. */
  function pump(only?: 'front'): void {
    if (!isStarted || isPumping || stop.signal.aborted) return
    isPumping = true
    for (let grant = queue.take(only); grant; grant = queue.take(only)) {
      const begun = executions.get(grant.id)
      if (begun) begun.giveSlot()
      else void launch(grant, true)
    }
    isPumping = false
  }

  async function launch(run: { id: number; agentId: number }, hasSlot: boolean): Promise<void> {
    const execution = createExecution({ run, hasSlot, execute, queue, pump, stop: stop.signal, log })
    executions.set(run.id, execution)
    await execution.run()
    executions.delete(run.id)
    if (stop.signal.aborted && executions.size === 0) empty.resolve()
  }

  const sweep = createSweep({
    runs: store.runs,
    log,
    onFound(runs) {
      for (const run of runs) enqueue(run)
      pump()
    },
  })

  async function letGo(withinMs: number): Promise<void> {
    stop.abort()
    sweep.stop()
    if (executions.size === 0) empty.resolve()
    for (const execution of executions.values()) execution.stopWaiting()
    await atMost(withinMs, empty.promise)
    for (const execution of executions.values()) execution.abort(new RunAborted('stopped'))
    await atMost(LAST_WORD_MS, empty.promise)
    if (executions.size > 0) log.warn({ run_ids: [...executions.keys()] }, 'runs that do not stop are left behind')
  }

  return {
    async start() {
      await store.write('markInterrupted', null)
      await sweep.read()
      // Known beforehand, so that what held a slot has it again at once, before anybody else.
      for (const agentId of queue.agentsInFront()) {
        const found = await store.agents.find(agentId)
        queue.setLimit(agentId, found?.agent.max_concurrency ?? null)
      }
      isStarted = true
      pump('front')
      pump()
      sweep.begin()
    },

    reserve() {
      // What finds a free slot does not wait.
      if (queue.waiting + Math.max(0, reserved - queue.free) >= maxQueued) return undefined
      let isOpen = true
      reserved += 1
      const give_back = () => {
        if (isOpen) reserved -= 1
        isOpen = false
      }
      return {
        give_back,
        fill({ id, agent_id, max_concurrency }) {
          give_back()
          enqueue({ id, agent_id, interrupted: false })
          queue.setLimit(agent_id, max_concurrency)
          pump()
        },
      }
    },

    cancel(id) {
      const execution = executions.get(id)
      if (execution) return execution.abort(new RunAborted('cancelled'))
      if (stop.signal.aborted) return
      // Its claim ends it, which takes no slot: a full house must not keep it waiting.
      void launch({ id, agentId: queue.remove(id) ?? NOBODY }, false)
    },

    stop(withinMs) {
      stopped ??= letGo(withinMs)
      return stopped
    },
  }
}

/** Resolves with the work, or when its time is up. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}
