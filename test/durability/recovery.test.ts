// What a start finds after a kill -9, and what it makes of it.
import { describe, expect } from 'vitest'
import { proves } from '../spec/proves.ts'
import { createClient } from '../support/crash/client.ts'
import { createLives } from '../support/crash/lives.ts'
import { begins } from '../support/ledger/line.ts'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { expectGoodHistory } from './history.ts'

const POISONED = {
  code: 'INTERNAL_ERROR',
  message: 'The service went down 5 times while this run was executing; it is not tried again',
}

describe('after a kill -9', () => {
  proves(
    ['engine.crash-continues', 'engine.no-step-twice', 'engine.call-key'],
    'a run goes on where it stopped, and what was recorded stays as it is to the letter',
    async () => {
      await using lives = await createLives()
      const client = createClient(lives.current)
      const first = await lives.start()
      await client.createAgent({ name: 'worker', prompt: 'Work.' })
      const task = 'call pay {"for":"tea"}\ncall fail {}\nsleep 1500\ncall put {}'
      const id = await client.execute({ agent: 'worker', key: 'one', task })
      const before = await until('the third turn has begun', async () => {
        const run = await client.run(id)
        return run.steps.length === 5 && run
      })
      await first.end('SIGKILL')
      await lives.start()
      const after = await client.ended(id)

      expect(before).toMatchObject({ status: 'running', phase: 'executing', attempts: 1 })
      const recorded = before.steps.slice(0, 4)
      expect(recorded.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed', 'error'])
      expect(JSON.stringify(after.steps.slice(0, 4))).toBe(JSON.stringify(recorded))
      expect(after).toMatchObject({ status: 'completed', attempts: 2, steps_count: 7, tool_calls_count: 3 })
      expect(after.steps.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 2, 1, 1])
      expect(after.result).toBe(`pay: paid ${id}:1.0\nfail failed: it cannot be done\nput: stored ${id}:3.0`)
      for (const key of [`${id}:1.0`, `${id}:2.0`, `${id}:3.0`]) expect(begins(lives.ledger(), key)).toBe(1)
      expect(lives.ledger()[0]).toMatchObject({ tool: 'pay', key: `${id}:1.0`, input: { for: 'tea' } })
      await expectGoodHistory({ lives, client, safe: new Set() })
    },
  )

  proves(
    ['runs.cancel-committed'],
    'a run whose cancel was answered, or only committed, ends as cancelled and calls nothing any more',
    async () => {
      await using lives = await createLives()
      const client = createClient(lives.current)
      const first = await lives.start({ trouble: true })
      await client.createAgent({ name: 'worker', prompt: 'Work.' })
      // Its second write would be its end; the process dies before that is handed over.
      const variables = { trouble: 'before:2' }
      const task = 'sleep 60000\ncall pay {}'
      const answered = await client.execute({ agent: 'worker', key: 'answered', task, variables })
      await until('it executes', async () => (await client.run(answered)).phase === 'executing')
      await client.cancel(answered)
      expect(await client.run(answered)).toMatchObject({ status: 'running' })
      await first.end('SIGKILL')

      const second = await lives.start({ crash: 'after:requestCancel:1' })
      const committed = await client.execute({ agent: 'worker', key: 'committed', task })
      await until('it executes', async () => (await client.run(committed)).phase === 'executing')
      const dying = fetch(`${second.api}/api/v1/runs/${committed}/cancel`, { method: 'POST' })
      await expect(dying).rejects.toThrow()
      expect(await second.ended).toEqual({ code: null, signal: 'SIGKILL' })
      client.told.cancelling.push(committed)

      await lives.start()
      for (const id of [answered, committed]) {
        const run = await client.ended(id)
        expect(run).toMatchObject({ status: 'error', error: { code: 'CANCELLED' }, steps_count: 1 })
      }
      expect(lives.ledger()).toEqual([])
      await expectGoodHistory({ lives, client })
    },
  )

  proves(
    'engine.poison',
    'a run that takes the service down every time is given up after 5 times, and the others go on',
    async () => {
      await using lives = await createLives({ promises: { safe: { retry: 'safe' } } })
      const client = createClient(lives.current)
      const first = await lives.start()
      await client.createAgent({ name: 'worker', prompt: 'Work.' })
      const before = await client.execute({ agent: 'worker', key: 'before', task: 'call safe_pay {}' })
      await client.ended(before)
      const poison = await client.execute({ agent: 'worker', key: 'poison', task: 'sleep 100\ncall safe_murder {}' })
      const beside = await client.execute({ agent: 'worker', key: 'beside', task: 'Good morning.' })
      await first.ended
      for (let crashes = 1; crashes < 5; crashes++) {
        // It may come down before it is ready.
        const next = await lives.start().catch(() => undefined)
        await next?.ended
      }
      await lives.start()
      expect(await client.ended(poison)).toMatchObject({ status: 'error', error: POISONED, attempts: 6 })
      const after = await client.execute({ agent: 'worker', key: 'after', task: 'call safe_pay {}' })
      for (const id of [before, beside, after]) expect(await client.ended(id)).toMatchObject({ status: 'completed' })
      expect(begins(lives.ledger(), `${poison}:1.0`)).toBe(5)
      const safe = new Set(['safe_pay', 'safe_murder'])
      const { verdict } = await expectGoodHistory({ lives, client, safe })
      expect(verdict.poisoned).toBe(1)
    },
    60_000,
  )

  proves(
    'engine.timeout-consumed',
    'the time that a run has consumed is not forgotten, and neither the queue nor the downtime counts',
    async () => {
      await using lives = await createLives({ env: { SVC_MAX_CONCURRENT_RUNS: '1' } })
      const client = createClient(lives.current)
      const first = await lives.start()
      await client.createAgent({ name: 'worker', prompt: 'Work.', timeout_seconds: 4 })
      await client.createAgent({ name: 'hasty', prompt: 'Work.', timeout_seconds: 1 })
      const id = await client.execute({ agent: 'worker', key: 'long', task: 'sleep 3000\ncall put {}\nsleep 60000' })
      const queued = await client.execute({ agent: 'hasty', key: 'queued', task: 'Good morning.' })
      await until('the second turn has begun', async () => (await client.run(id)).steps.length === 3)
      await first.end('SIGKILL')
      const killedAt = Date.now()
      await lives.start()
      const run = await client.ended(id)
      expect(run).toMatchObject({ status: 'error', error: { code: 'RUN_TIMEOUT' }, attempts: 2 })
      // It waited for much longer than the second that it may take.
      expect(await client.ended(queued)).toMatchObject({ status: 'completed', error: null })

      await lives.current()?.end('SIGTERM')
      const { audit, runs } = lives.database()
      const at = (what: string, life: number) =>
        audit.find((line) => line.run_id === id && line.what === what && line.life === life)?.at ?? Number.NaN
      const secondLife = at('ending', 2) - at('claim', 2)
      // Of the 4 s about one was left: far below 4, which it would have had anew.
      expect(secondLife).toBeLessThan(3000)
      expect(runs.find((row) => row.id === id)?.consumed_ms).toBeGreaterThanOrEqual(4000)
      const downtime = at('claim', 2) - killedAt
      const onTheClock = at('ending', 2) - at('claim', 1)
      expect(onTheClock - downtime).toBeGreaterThanOrEqual(3900)
    },
  )
})

proves(
  ['webhook.accepted-after-commit'],
  'whatever was answered with 202 is there, and executed, when the service is killed at that very moment',
  async () => {
    await using home = await temporaryFolder()
    const post = (agents: string, task: string) =>
      fetch(`${agents}/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent_name: 'worker', task }),
      })
    const answered: { run_id: number; task: string }[] = []
    for (const round of [1, 2, 3]) {
      await using service = await startService({ home: home.path })
      if (round === 1) await createClient(() => service).createAgent({ name: 'worker', prompt: 'Work.' })
      const tasks = Array.from({ length: 40 }, (_, index) => `Good morning number ${index} of round ${round}.`)
      const posts = tasks.map(async (task) => {
        const response = await post(service.agents, task)
        expect(response.status).toBe(202)
        const { run_id } = (await response.json()) as { run_id: number }
        answered.push({ run_id, task })
        // The first answer is the sign.
        process.kill(service.pid, 'SIGKILL')
      })
      await Promise.allSettled(posts)
      expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' })
    }
    expect(answered.length).toBeGreaterThanOrEqual(3)
    await using service = await startService({ home: home.path })
    const client = createClient(() => service)
    for (const { run_id, task } of answered)
      expect(await client.ended(run_id)).toMatchObject({ status: 'completed', task })
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null })
  },
)
