/**
 * Lets go of what is old: ended runs after their days, the toolsets that only such runs were offered, request keys that
 * nobody can repeat. A little at a time.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** A start has better things to do at first. */
const ROUNDS = { first_after_ms: 10_000, every_ms: 60 * 60 * 1000 }
/** Between two slices, so that what others write never stands behind more than one of them. */
const BREATH_MS = 10
const RUNS_AT_ONCE = 100
const KEYS_AT_ONCE = 1000
const TOOLSETS_AT_ONCE = 100

export interface Retention {
  start(): void
  /** Resolves when nothing is under way any more, after the current slice at most. */
  stop(): Promise<void>
  /** Removes everything that is old by now; resolves with the number of runs that went. */
  sweep(): Promise<number>
}

interface RetentionParts {
  store: Pick<Store, 'write'>
  clock: Pick<Clock, 'now'>
  log: Log
  /** 0 keeps runs for ever. */
  days: number
  rounds?: typeof ROUNDS
}

export function createRetention({ store, clock, log, days, rounds = ROUNDS }: RetentionParts): Retention {
  const stopping = new AbortController()
  let underWay: Promise<void> = Promise.resolve()

  const removeRuns = (ended_before: number) => store.write('removeEndedRuns', { ended_before, limit: RUNS_AT_ONCE })
  /** The last use of a toolset is known to the day. */
  const forgetToolsets = (at: number) =>
    store.write('forgetToolsets', { unused_since: at - (days + 1) * DAY_MS, limit: TOOLSETS_AT_ONCE })
  const forgetKeys = (at: number) => store.write('forgetRequestKeys', { at, limit: KEYS_AT_ONCE })

  async function sweep(): Promise<number> {
    const at = clock.now()
    let removed = 0
    try {
      if (days > 0) {
        await inSlices(RUNS_AT_ONCE, async () => {
          const slice = await removeRuns(at - days * DAY_MS)
          removed += slice
          return slice
        })
        await inSlices(TOOLSETS_AT_ONCE, () => forgetToolsets(at))
      }
      await inSlices(KEYS_AT_ONCE, () => forgetKeys(at))
    } finally {
      // Also when the rest had to wait for the next round: what is gone is gone.
      if (removed > 0) log.info({ removed, days }, 'old runs were removed')
    }
    return removed
  }

  async function inSlices(size: number, removeSlice: () => Promise<number>): Promise<void> {
    while (!stopping.signal.aborted && (await removeSlice()) === size) await pause(BREATH_MS)
  }

  async function sweepAgainAndAgain(): Promise<void> {
    await pause(rounds.first_after_ms)
    while (!stopping.signal.aborted) {
      await sweep().catch((error) => log.warn({ err: error }, 'old runs could not be removed; tried again later'))
      await pause(rounds.every_ms)
    }
  }

  /** Over at once when stopping; keeps no process alive. */
  const pause = (ms: number) => delay(ms, undefined, { ref: false, signal: stopping.signal }).catch(() => {})

  return {
    sweep,
    start() {
      underWay = sweepAgainAndAgain()
    },
    async stop() {
      stopping.abort()
      await underWay
    },
  }
}
