// A local dispatcher whose runs are promises in the hands of the test, and whose rows are an array.
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { pino } from 'pino'
import type { Control, Execute } from '../../src/runs/dispatch.ts'
import { createLocalDispatcher } from '../../src/runs/local/dispatch-local.ts'
import type { FiledAgent } from '../../src/store/agent-look-up.ts'
import type { WaitingRun } from '../../src/store/runs/reads.ts'
import type { Writer } from '../../src/store/writes.ts'

interface HouseOptions {
  slots?: number
  maxQueued?: number
  /** What waits according to its row. */
  rows?: WaitingRun[]
  /** max_concurrency of agents, null for all others. */
  limits?: Record<number, number>
  execute?: Execute
}

interface Job {
  control: Control
  finish: () => void
  fail: (error: unknown) => void
}

/** Everything that could happen without time going by has happened. */
export const quiet = () => turnOfTheLoop()

export const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index)

export const row = (id: number, agent_id: number, interrupted = false): WaitingRun => ({ id, agent_id, interrupted })

export function openHouse({ slots = 1, maxQueued = 1000, rows = [], limits = {}, execute }: HouseOptions = {}) {
  const begun: number[] = []
  const jobs = new Map<number, Job>()
  const lines: { level: number; msg: string; run_id?: number }[] = []
  const asked: (number | string)[] = []
  const outage = { now: false }

  const held: Execute = (id, control) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    begun.push(id)
    jobs.set(id, { control, finish: resolve, fail: reject })
    return promise
  }
  const store = {
    runs: {
      async waiting(after: number, limit: number) {
        asked.push(after)
        if (outage.now) throw new Error('the disk is gone')
        return rows.filter(({ id }) => id > after).slice(0, limit)
      },
    },
    agents: { find: async (id: number) => ({ agent: { max_concurrency: limits[id] ?? null } }) as FiledAgent },
    write: (async (name: string) => asked.push(name)) as unknown as Writer,
  }
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const dispatch = createLocalDispatcher({ store, execute: execute ?? held, slots, maxQueued, log })

  const job = (id: number): Job => {
    const found = jobs.get(id)
    if (!found) throw new Error(`run ${id} was not begun`)
    return found
  }
  return {
    ...{ dispatch, begun, rows, asked, outage, lines },
    control: (id: number) => job(id).control,
    /** As accept does it: the place first, then the run. */
    accept(agent_id: number, ids: number[], max_concurrency: number | null = null) {
      for (const id of ids) dispatch.reserve()?.fill({ id, agent_id, max_concurrency })
    },
    finish: (id: number) => {
      job(id).finish()
      return quiet()
    },
    fail: (id: number) => {
      job(id).fail(new Error('a bug'))
      return quiet()
    },
  }
}

/** Whether a promise has settled, and how, without waiting for it. */
export async function stateOf<Value>(
  promise: Promise<Value>,
): Promise<'pending' | { value: Value } | { error: unknown }> {
  const settled = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  return Promise.race([settled, quiet().then(() => 'pending' as const)])
}
