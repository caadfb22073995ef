// A stop in good order: what is under way is recorded, the rest is let go of, and nobody is blamed for it.
import { describe, expect } from 'vitest'
import { proves } from '../spec/proves.ts'
import { createClient } from '../support/crash/client.ts'
import { createLives } from '../support/crash/lives.ts'
import { makeHome } from '../support/home.ts'
import { inLanes } from '../support/lanes.ts'
import { begins } from '../support/ledger/line.ts'
import { startService } from '../support/service-process.ts'
import { until } from '../support/until.ts'
import { expectGoodHistory } from './history.ts'

const CLEAN = { code: 0, signal: null }
const EXECUTING = 24
const QUEUED = 120

describe('SIGTERM', () => {
  proves(
    ['running.drain', 'running.continue-after-stop', 'engine.no-step-twice'],
    `with ${EXECUTING} runs executing and ${QUEUED} queued: the current steps are recorded, all go on at the next start`,
    async () => {
      await using lives = await createLives({ env: { SVC_MAX_CONCURRENT_RUNS: String(EXECUTING) } })
      const client = createClient(lives.current)
      const first = await lives.start()
      await client.createAgent({ name: 'worker', prompt: 'Work.' })
      const ids: number[] = []
      const post = (count: number, task: string) =>
        inLanes(8, Array(count).keys(), async (n) => {
          ids.push(await client.execute({ agent: 'worker', key: `${n} of ${count}`, task }))
        })
      await post(EXECUTING, 'call pay {}\nsleep 4000\ncall pay {}')
      const paid = () => lives.ledger().filter(({ phase }) => phase === 'end').length
      await until('all slots are in their second turn', () => paid() === EXECUTING)
      await post(QUEUED, 'call pay {}\ncall pay {}')
      expect(await first.end('SIGTERM')).toEqual(CLEAN)

      const { runs, steps } = lives.database()
      const begun = runs.filter(({ attempts }) => attempts > 0)
      expect(begun.map(({ status, phase, crashes }) => `${status} ${phase} ${crashes}`)).toEqual(
        Array(EXECUTING).fill('running recovering 0'),
      )
      expect(runs.filter(({ phase }) => phase === 'queued').length).toBe(QUEUED)
      const journal = ({ id }: { id: number }) =>
        steps.filter(({ run_id }) => run_id === id).map(({ key, status }) => `${key} ${status}`)
      // The turn that was under way is recorded; the call that it asks for is left to the next life.
      for (const run of begun) expect(journal(run)).toEqual(['1 completed', '1.0 completed', '2 completed'])

      await lives.start()
      const { records, verdict } = await expectGoodHistory({ lives, client })
      expect(verdict).toMatchObject({ runs: EXECUTING + QUEUED, unknown: 0, repeated: 0, poisoned: 0 })
      expect(records.every(({ status }) => status === 'completed')).toBe(true)
      expect(records.flatMap((run) => run.steps).every(({ attempts }) => attempts === 1)).toBe(true)
      expect(lives.database().runs.every(({ crashes }) => crashes === 0)).toBe(true)
      for (const id of ids) expect([`${id}:1.0`, `${id}:2.0`].map((key) => begins(lives.ledger(), key))).toEqual([1, 1])
    },
    90_000,
  )

  proves(
    'running.drain',
    'what takes longer than SVC_DRAIN_SECONDS is let go of: a call is in doubt, a model turn is made again',
    async () => {
      await using lives = await createLives({ env: { SVC_DRAIN_SECONDS: '1' } })
      const client = createClient(lives.current)
      const first = await lives.start()
      await client.createAgent({ name: 'worker', prompt: 'Work.' })
      const calling = await client.execute({ agent: 'worker', key: 'calling', task: 'call pay {"hang":"once"}' })
      const speaking = await client.execute({ agent: 'worker', key: 'speaking', task: 'sleep 3000' })
      await until('the call is under way', () => lives.ledger().length === 1)
      const asked = performance.now()
      expect(await first.end('SIGTERM')).toEqual(CLEAN)
      const tookMs = performance.now() - asked
      expect(tookMs).toBeGreaterThanOrEqual(1000)
      expect(tookMs).toBeLessThan(2900)

      await lives.start()
      const called = await client.ended(calling)
      expect(called).toMatchObject({ status: 'completed', attempts: 2, steps: [{}, { status: 'unknown' }, {}] })
      expect(called.result).toMatch(/^pay failed: The outcome of this call is not known/)
      expect(await client.ended(speaking)).toMatchObject({ status: 'completed', steps: [{ attempts: 2 }] })
      expect(begins(lives.ledger(), `${calling}:1.0`)).toBe(1)
      await expectGoodHistory({ lives, client })
      expect(lives.database().runs.map(({ crashes }) => crashes)).toEqual([0, 0])
    },
  )

  proves(
    ['running.drain', 'running.continue-after-stop'],
    'the real program: a run in its last turn ends before the exit, a queued one after the next start',
    async () => {
      await using home = await makeHome()
      const env = { SVC_MAX_CONCURRENT_RUNS: '1' }
      await using first = await startService({ home: home.home, env })
      const client = createClient(() => first)
      await client.createAgent({ name: 'worker', prompt: 'Work.' })
      const speaking = await client.execute({ agent: 'worker', key: 'speaking', task: 'sleep 1000' })
      const queued = await client.execute({ agent: 'worker', key: 'queued', task: 'Good morning.' })
      await until('the first one executes', async () => (await client.run(speaking)).phase === 'executing')
      expect(await first.end('SIGTERM')).toEqual(CLEAN)

      await using second = await startService({ home: home.home, env })
      const later = createClient(() => second)
      expect(await later.run(speaking)).toMatchObject({ status: 'completed', attempts: 1 })
      expect(await later.ended(queued)).toMatchObject({ status: 'completed', attempts: 1 })
      expect(await second.end('SIGTERM')).toEqual(CLEAN)
    },
  )
})
