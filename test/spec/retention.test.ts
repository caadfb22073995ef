// Old runs go by themselves, in slices; what is young or still running stays.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createRetention } from '../../src/runs/retention.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { AT } from '../store/sample.ts'
import {
  accept,
  acceptId,
  claim,
  createRunnable,
  end,
  everyRun,
  type RunnableAgent,
  runThrough,
  totalOf,
} from '../store/sample-runs.ts'
import { query } from '../store/sqlite-file.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const clock = { now: () => AT }
const OFTEN = { first_after_ms: 1, every_ms: 1 }

interface Line {
  level: number
  msg: string
  removed?: number
}

/** A log whose lines a test can read. */
function keptLog() {
  const lines: Line[] = []
  return { lines, log: pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) }) }
}

/** Acts on a store with a home of its own; resolves with the runs that have steps in the end. */
async function withStore(act: (store: Store, home: string) => Promise<void>): Promise<unknown[]> {
  await using folder = await temporaryFolder()
  const store = await openSqliteStore(join(folder.path, 'data'))
  try {
    await act(store, folder.path)
  } finally {
    await store.close()
  }
  const steps = query(join(folder.path, 'data', 'agenthost.sqlite'), 'SELECT run_id FROM steps ORDER BY run_id')
  return steps.map(({ run_id }) => run_id)
}

/** Runs that were accepted and ended this many days ago. */
const endedBefore = (store: Store, agent: RunnableAgent, days: number, count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => runThrough(store, agent, { at: AT - days * DAY_MS })))

const idsOf = async (store: Store) => (await everyRun(store)).map(({ id }) => id).toReversed()

proves(
  'engine.retention',
  'ended runs older than the days and their steps go in slices, and the log says so',
  async () => {
    let kept: number[] = []
    const withSteps = await withStore(async (store) => {
      const agent = await createRunnable(store)
      const longRunning = await acceptId(store, agent, { at: AT - 90 * DAY_MS })
      const executing = await claim(store, await acceptId(store, agent, { at: AT - 90 * DAY_MS }))
      const lateEnd = await claim(store, await acceptId(store, agent, { at: AT - 90 * DAY_MS }))
      await end(store, lateEnd, undefined, AT - 29 * DAY_MS)
      const old = await endedBefore(store, agent, 31, 250)
      const young = await endedBefore(store, agent, 30, 3)
      const { lines, log } = keptLog()
      const retention = createRetention({ store, clock, log, days: 30 })
      expect(await retention.sweep()).toBe(250)
      kept = [longRunning, executing.id, lateEnd.id, ...young]
      expect(await idsOf(store)).toEqual(kept)
      expect(await Promise.all(old.slice(0, 5).map((id) => store.runs.detail(id)))).toEqual(Array(5).fill(undefined))
      expect(await totalOf(store, { status: 'completed', agent_id: agent.id })).toBe(4)
      expect(await totalOf(store, { status: 'running' })).toBe(2)
      expect(lines).toEqual([expect.objectContaining({ removed: 250, days: 30, msg: 'old runs were removed' })])
      // Nothing left to say.
      expect(await retention.sweep()).toBe(0)
      expect(lines).toHaveLength(1)
    })
    // The run that waits has no step yet.
    expect(withSteps).toEqual(kept.slice(1))
  },
)

proves('engine.retention', 'with 0 days every run is kept, however old', async () => {
  await withStore(async (store) => {
    const agent = await createRunnable(store)
    const ids = await endedBefore(store, agent, 10_000, 3)
    const { lines, log } = keptLog()
    expect(await createRetention({ store, clock, log, days: 0 }).sweep()).toBe(0)
    expect(await idsOf(store)).toEqual(ids)
    expect(lines).toEqual([])
  })
})

proves('engine.retention', 'others write between two slices', async () => {
  await withStore(async (store) => {
    const agent = await createRunnable(store)
    await endedBefore(store, agent, 31, 500)
    const swept = createRetention({ store, clock, log: keptLog().log, days: 30 }).sweep()
    let isOver = false
    const over = swept.finally(() => {
      isOver = true
    })
    const totals = new Set<number>()
    while (!isOver) {
      await acceptId(store, agent)
      totals.add(await totalOf(store, { status: 'completed' }))
    }
    expect(await over).toBe(500)
    // Some of what was written in between saw the removal half done.
    expect([...totals].filter((total) => total > 0 && total < 500)).not.toEqual([])
  })
})

proves('runs.ids-never-reused', 'the ids of removed runs are not given to new ones', async () => {
  await withStore(async (store) => {
    const agent = await createRunnable(store)
    const old = await endedBefore(store, agent, 31, 5)
    expect(await createRetention({ store, clock, log: keptLog().log, days: 30 }).sweep()).toBe(5)
    expect(await idsOf(store)).toEqual([])
    const fresh = [await acceptId(store, agent), await acceptId(store, agent)]
    expect(Math.min(...fresh)).toBeGreaterThan(Math.max(...old))
  })
})

test('request keys that nobody can repeat any more are forgotten, also when runs are kept', async () => {
  await withStore(async (store) => {
    const agent = await createRunnable(store)
    const key = (name: string) => ({ principal: 'p', route: 'r', key: name, body_hash: 'h' })
    await accept(store, agent, { request_key: key('old'), at: AT - DAY_MS })
    await accept(store, agent, { request_key: key('young'), at: AT - DAY_MS + 1 })
    await createRetention({ store, clock, log: keptLog().log, days: 0 }).sweep()
    expect(await store.runs.answerTo(key('old'))).toBeUndefined()
    expect(await store.runs.answerTo(key('young'))).toBeDefined()
  })
})

test('rounds begin by themselves; a storage that is down is said, and the next round does the work', async () => {
  await withStore(async (store, home) => {
    const agent = await createRunnable(store)
    await endedBefore(store, agent, 31, 3)
    const { lines, log } = keptLog()
    const retention = createRetention({ store, clock, log, days: 30, rounds: OFTEN })
    const held = holdDatabase({ home })
    retention.start()
    try {
      while (lines.length === 0) await delay(5)
    } finally {
      held.close()
    }
    while (!lines.some(({ removed }) => removed === 3)) await delay(5)
    await retention.stop()
    expect(lines[0]).toMatchObject({ msg: expect.stringContaining('could not be removed') })
    expect(await totalOf(store, {})).toBe(0)
  })
})

test('a stop ends the wait for the next round, and a sweep under way after its slice', async () => {
  await withStore(async (store) => {
    const agent = await createRunnable(store)
    await endedBefore(store, agent, 31, 250)
    const waiting = createRetention({ store, clock, log: keptLog().log, days: 30 })
    waiting.start()
    await waiting.stop()
    expect(await totalOf(store, {})).toBe(250)
    const sweeping = createRetention({ store, clock, log: keptLog().log, days: 30 })
    const swept = sweeping.sweep()
    await sweeping.stop()
    expect(await swept).toBe(100)
    expect(await totalOf(store, {})).toBe(150)
  })
})
