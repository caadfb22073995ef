/** The engine put together: one way in, one way to execute, one feed of changes. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Models } from '../models/models.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Toolset } from '../tools/toolset.ts'
import { type Accept, createAccept } from './accept.ts'
import { createExecute } from './execute/execute.ts'
import { createLocalDispatcher } from './local/dispatch-local.ts'
import { createRetention } from './retention.ts'
import { createRuns, type Runs } from './runs.ts'
import { createFeed } from './watch.ts'

export interface Engine {
  accept: Accept
  runs: Runs
  /** Goes on with what an earlier process left, then executes whatever is accepted. */
  start(): Promise<void>
  /** Ends all waiting at once, and executing within the time given. */
  stop(withinMs: number): Promise<void>
}

interface EngineParts {
  store: Store
  models: Models
  tools: Toolset
  clock: Clock
  log: Log
  limits: { max_concurrent_runs: number; max_queued_runs: number; retention_days: number }
}

export function createEngine({ store, models, tools, clock, log, limits }: EngineParts): Engine {
  const feed = createFeed()
  const execute = createExecute({ store, models, tools, feed, clock, owner: randomUUID(), log })
  const { max_concurrent_runs: slots, max_queued_runs: maxQueued, retention_days: days } = limits
  const dispatch = createLocalDispatcher({ store, execute, slots, maxQueued, log })
  const retention = createRetention({ store, clock, log, days })

  return {
    accept: createAccept({ store, models, dispatch, feed, clock, log }),
    runs: createRuns({ store, dispatch, feed, clock }),
    async start() {
      await dispatch.start()
      retention.start()
    },
    async stop(withinMs) {
      feed.close()
      await Promise.all([retention.stop(), dispatch.stop(withinMs)])
    },
  }
}
