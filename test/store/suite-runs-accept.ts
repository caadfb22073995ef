// A run comes to be together with its count and its idempotency key, or not at all.
import { expect, test } from 'vitest'
import type { AcceptRun, RequestKey } from '../../src/store/runs/accept-write.ts'
import type { Store } from '../../src/store/store.ts'
import { AT, createEnvironment, outcome } from './sample.ts'
import { accept, acceptId, createRunnable, get, type RunnableAgent, totalOf } from './sample-runs.ts'
import type { OpenStore } from './suite.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const KEY: RequestKey = { principal: 'somebody', route: 'POST /execute', key: 'k-1', body_hash: 'h-1' }

export function acceptFacts(open: OpenStore): void {
  test('an accepted run waits, is counted and keeps everything it was given', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const variables = { host: "db'1", empty: '', emoji: '🚀' }
    const { answer, replayed } = await accept(store, agent, { task: 'Look', variables, callback_url: 'http://c/' })
    expect({ answer, replayed }).toEqual({
      answer: {
        ...{ run_id: answer.run_id, agent_id: agent.id, agent_name: 'worker', status: 'running' },
        message: expect.any(String),
      },
      replayed: false,
    })
    const run = await get(await opened.reopen(), answer.run_id)
    expect(run).toMatchObject({ status: 'running', phase: 'queued', task: 'Look', variables, attempts: 0 })
  })

  test('without room a run is refused with QUEUE_FULL and nothing is stored, not even its key', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    expect(await outcome(accept(store, agent, { full: true, request_key: KEY }))).toBe('QUEUE_FULL')
    expect(await totalOf(store, {})).toBe(0)
    expect(await store.runs.answerTo(KEY)).toBeUndefined()
    expect((await accept(store, agent, { request_key: KEY })).replayed).toBe(false)
  })

  test('the same request under the same key gets the first answer, also together, and also without room', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const again = (more: Partial<AcceptRun> = {}) => accept(store, agent, { request_key: KEY, ...more })
    const [first, ...others] = await Promise.all([again(), again(), again(), again({ full: true })])
    expect(first.replayed).toBe(false)
    expect(others).toEqual(Array(3).fill({ answer: first.answer, replayed: true }))
    expect(await again({ at: AT + DAY_MS - 1, full: true })).toEqual({ answer: first.answer, replayed: true })
    expect(await totalOf(store, {})).toBe(1)
    const stored = await store.runs.answerTo(KEY)
    expect({ ...stored, response: JSON.parse(stored?.response ?? '') }).toEqual({
      ...{ body_hash: 'h-1', response: first.answer, created_at: AT },
    })
  })

  test('another request under the same key is refused, and the first answer stays', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const { answer } = await accept(store, agent, { request_key: KEY })
    const other = accept(store, agent, { request_key: { ...KEY, body_hash: 'h-2' } })
    expect(await outcome(other)).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await accept(store, agent, { request_key: KEY })).toEqual({ answer, replayed: true })
    expect(await totalOf(store, {})).toBe(1)
  })

  test.each<[what: string, Partial<RequestKey>]>([
    ['principal', { principal: 'another' }],
    ['route', { route: 'POST /agents/1/run' }],
    ['key', { key: 'K-1' }],
  ])('a key of another %s is another key', async (_what, other) => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const first = await accept(store, agent, { request_key: KEY })
    const second = await accept(store, agent, { request_key: { ...KEY, ...other, body_hash: 'h-2' } })
    expect(second.replayed).toBe(false)
    expect(second.answer.run_id).not.toBe(first.answer.run_id)
  })

  test('after 24 hours a key is free for any request', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const first = await accept(store, agent, { request_key: KEY })
    const later = { request_key: { ...KEY, body_hash: 'h-2' }, at: AT + DAY_MS }
    const second = await accept(store, agent, later)
    expect(second).toMatchObject({ replayed: false })
    expect(second.answer.run_id).toBeGreaterThan(first.answer.run_id)
    expect(await accept(store, agent, later)).toEqual({ answer: second.answer, replayed: true })
  })

  test('keys older than 24 hours are forgotten, oldest first, a few at a time', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const keys = [0, 1, 2, 3].map((age) => ({ ...KEY, key: `k-${age}` }))
    for (const [age, request_key] of keys.entries()) await accept(store, agent, { request_key, at: AT + age })
    const forget = (at: number, limit: number) => store.write('forgetRequestKeys', { at, limit })
    const known = async () => (await Promise.all(keys.map((key) => store.runs.answerTo(key)))).map(Boolean)
    expect(await forget(AT + DAY_MS - 1, 10)).toBe(0)
    expect(await forget(AT + DAY_MS + 2, 2)).toBe(2)
    expect(await known()).toEqual([false, false, true, true])
    expect(await forget(AT + DAY_MS + 2, 2)).toBe(1)
    expect(await known()).toEqual([false, false, false, true])
    expect(await totalOf(store, {})).toBe(4)
  })

  test('a hundred runs of one tick all arrive, with ids in their order', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const tasks = Array.from({ length: 100 }, (_, index) => `task ${index}`)
    const ids = await Promise.all(tasks.map((task) => acceptId(store, agent, { task })))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    const reopened = await opened.reopen()
    expect(await Promise.all(ids.map(async (id) => (await get(reopened, id)).task))).toEqual(tasks)
    expect(await totalOf(reopened, { status: 'running', agent_id: agent.id })).toBe(100)
  })

  test('a run that cannot be stored leaves no count and no key, and its neighbours stay', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const broken = () => accept(store, agent, { task: null as never, request_key: KEY })
    const outcomes = await Promise.all([accept(store, agent), broken(), accept(store, agent)].map(outcome))
    expect(outcomes).toEqual(['ok', 'INTERNAL_ERROR', 'ok'])
    expect(await totalOf(store, {})).toBe(2)
    expect(await store.runs.answerTo(KEY)).toBeUndefined()
  })

  test('the id of a run that retention removed is never used again, even after a reopening', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const last = await endedRuns(store, agent, 3)
    expect(await store.write('removeEndedRuns', { ended_before: AT + 1, limit: 10 })).toBe(3)
    expect(await acceptId(store, agent)).toBe(last + 1)
    const reopened = await opened.reopen()
    await createEnvironment(reopened, 'other')
    expect(await acceptId(reopened, agent)).toBe(last + 2)
  })
}

async function endedRuns(store: Store, agent: RunnableAgent, count: number): Promise<number> {
  let last = 0
  for (let run = 0; run < count; run++) {
    last = await acceptId(store, agent)
    await store.write('requestCancel', { id: last, at: AT })
    await store.write('claimRun', { id: last, owner: 'one', at: AT })
  }
  return last
}
