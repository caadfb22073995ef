// Who executes a run: one owner at a time, fenced by its epoch; crashes are counted, good order is not.
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { AT, outcome } from './sample.ts'
import {
  accept,
  acceptId,
  claim,
  createRunnable,
  DONE,
  end,
  FAILED,
  get,
  type Held,
  intent,
  outcomeOf,
  record,
  totalOf,
  tryClaim,
} from './sample-runs.ts'
import type { OpenStore } from './suite.ts'

const waitingIds = async (store: Store) => (await store.runs.waiting(0, 100)).map(({ id }) => id)
const release = (store: Store, { id, epoch }: Held) => store.write('releaseRun', { run_id: id, epoch })
const requestCancel = (store: Store, id: number, at = AT) => store.write('requestCancel', { id, at })

async function oneRun(store: Store): Promise<number> {
  return acceptId(store, await createRunnable(store))
}

export function claimFacts(open: OpenStore): void {
  test('a claim starts the run, counts the attempt and records the intent of the first turn', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    expect(await claim(store, id, 'one', AT + 5)).toMatchObject({
      ...{ id, epoch: 1, consumed_ms: 0, timeout_seconds: 900, max_steps: 25, tools: null, notify: false },
      messages: [{ role: 'user', content: 'Do it' }],
      steps: [{ key: '1', epoch: 1, status: 'running', output: null, error: null }],
    })
    const run = await store.runs.detail(id)
    expect(run).toMatchObject({ phase: 'executing', attempts: 1, steps_count: 1, tool_calls_count: 0 })
    expect(run?.started_at).toBe(new Date(AT + 5).toISOString())
    expect(run?.steps.map(({ index, type, status }) => ({ index, type, status }))).toEqual([
      { index: 0, type: 'model', status: 'running' },
    ])
    expect(await waitingIds(store)).toEqual([])
  })

  test('a later claim keeps the first start, goes on with the journal and records no second first turn', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    const first = await claim(store, id, 'one', AT)
    await record(store, first, { entries: [outcomeOf('1', { output: '[1]' }), intent('1.0', 1)], consumed_ms: 70 })
    const second = await claim(store, id, 'two', AT + 9)
    expect(second).toMatchObject({ epoch: 2, consumed_ms: 70 })
    expect(second.steps).toEqual([
      { key: '1', epoch: 1, status: 'completed', output: '[1]', error: null },
      { key: '1.0', epoch: 1, status: 'running', output: null, error: null },
    ])
    const run = await get(store, id)
    expect(run).toMatchObject({ attempts: 2, steps_count: 2, started_at: new Date(AT).toISOString() })
  })

  test('a run that ended or never was cannot be claimed', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    await end(store, await claim(store, id))
    const before = await get(store, id)
    expect(await tryClaim(store, id, 'two')).toBeNull()
    expect(await tryClaim(store, 999_999)).toBeNull()
    expect(await get(store, id)).toEqual(before)
  })

  test('a stale owner writes nothing: no step, no end, no phase, no release, no consumed time', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    const stale = await claim(store, id, 'one')
    const current = await claim(store, id, 'two')
    const before = [await store.runs.detail(id), (await store.runs.changes(id, 0))?.seq]
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 1 }
    const entries = [outcomeOf('1', { usage }), intent('1.0', 1)]
    const nothing = { owned: false, cancel_requested: false }
    expect(await record(store, stale, { entries, consumed_ms: 99 })).toEqual(nothing)
    expect(await end(store, stale)).toEqual(nothing)
    await store.write('setPhase', { run_id: id, epoch: stale.epoch, phase: 'waiting' })
    await release(store, stale)
    expect([await store.runs.detail(id), (await store.runs.changes(id, 0))?.seq]).toEqual(before)
    expect((await claim(store, id, 'two')).consumed_ms).toBe(0)
    expect((await record(store, { ...current, epoch: 3 }, { entries })).owned).toBe(true)
  })

  test('of many claims in one tick the last owns the run, and all others are fenced', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => claim(store, id, owner)))
    expect(claims.map(({ epoch }) => epoch)).toEqual([1, 2, 3, 4])
    const owned = await Promise.all(claims.map((held) => record(store, held, {})))
    expect(owned.map((recorded) => recorded.owned)).toEqual([false, false, false, true])
  })

  test('a terminal status is written once: a second end, a failure or a cancel changes nothing', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    const held = await claim(store, id)
    // The same tick, so the same commit.
    const answers = await Promise.all([end(store, held, DONE, AT + 1), end(store, held, FAILED, AT + 2)])
    expect(answers.map(({ owned }) => owned)).toEqual([true, true])
    const ended = await store.runs.detail(id)
    expect(ended).toMatchObject({ status: 'completed', phase: null, result: 'Done.', error: null })
    expect(await outcome(requestCancel(store, id))).toBe('RUN_ALREADY_FINISHED')
    await release(store, held)
    await store.write('markInterrupted', null)
    expect(await store.runs.detail(id)).toEqual(ended)
    expect(await totalOf(store, { status: 'completed' })).toBe(1)
    expect(await totalOf(store, {})).toBe(1)
  })

  test('a run that five owners vanished with ends with INTERNAL_ERROR at the next claim', async () => {
    await using opened = await open()
    let { store } = opened
    const id = await oneRun(store)
    for (const owner of ['one', 'two', 'three', 'four', 'five']) {
      await claim(store, id, owner)
      store = await opened.reopen()
      await store.write('markInterrupted', null)
    }
    expect(await tryClaim(store, id, 'six', AT + 6)).toBeNull()
    const run = await get(store, id)
    expect(run).toMatchObject({ status: 'error', error: { code: 'INTERNAL_ERROR' }, phase: null })
    expect(run.error?.message).toMatch(/5 times/)
    expect(await totalOf(store, { status: 'error' })).toBe(1)
  })

  test('a release and a claim of the same owner count as no crash, however often', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    for (let round = 0; round < 8; round++) {
      const held = await claim(store, id, `owner ${round}`)
      expect((await claim(store, id, `owner ${round}`)).epoch).toBe(held.epoch + 1)
      await release(store, { id, epoch: held.epoch + 1 })
      expect(await get(store, id)).toMatchObject({ status: 'running', phase: 'recovering' })
    }
    expect(await claim(store, id, 'last')).toMatchObject({ epoch: 17 })
  })

  test('a cancel before the claim ends the run at the claim, and nothing is executed', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    await requestCancel(store, id)
    expect(await get(store, id)).toMatchObject({ status: 'running', phase: 'queued' })
    const reopened = await opened.reopen()
    expect(await tryClaim(reopened, id, 'two', AT + 3)).toBeNull()
    const run = await reopened.runs.detail(id)
    expect(run).toMatchObject({ status: 'error', error: { code: 'CANCELLED' }, result: null, steps: [] })
  })

  test('a cancel during the execution is told with the next record, and wins over a run that ends by itself', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await oneRun(store)
    const held = await claim(store, id)
    expect(await record(store, held, {})).toEqual({ owned: true, cancel_requested: false })
    await requestCancel(store, id)
    await requestCancel(store, id, AT + 1)
    expect(await record(store, held, {})).toEqual({ owned: true, cancel_requested: true })
    expect(await end(store, held, DONE)).toEqual({ owned: true, cancel_requested: true })
    expect(await get(store, id)).toMatchObject({ status: 'error', error: { code: 'CANCELLED' }, result: null })
    expect([await totalOf(store, { status: 'error' }), await totalOf(store, {})]).toEqual([1, 1])
  })

  test('a run that never was cannot be cancelled', async () => {
    await using opened = await open()
    expect(await outcome(requestCancel(opened.store, 999_999))).toBe('RUN_NOT_FOUND')
  })

  test('a process that starts marks what was executing or waiting, and leaves the queue alone', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const ids = await Promise.all([1, 2, 3, 4].map(() => acceptId(store, agent)))
    const [queued, executing, waiting, ended] = ids as [number, number, number, number]
    await claim(store, executing)
    const { epoch } = await claim(store, waiting)
    await store.write('setPhase', { run_id: waiting, epoch, phase: 'waiting' })
    expect(await get(store, waiting)).toMatchObject({ status: 'running', phase: 'waiting' })
    await end(store, await claim(store, ended))
    expect(await store.write('markInterrupted', null)).toBe(2)
    expect(await store.runs.waiting(0, 10)).toEqual([
      { id: queued, agent_id: agent.id, interrupted: false },
      { id: executing, agent_id: agent.id, interrupted: true },
      { id: waiting, agent_id: agent.id, interrupted: true },
    ])
  })

  test('what waits is told by id, in pieces of any size, without a gap or a repetition', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const ids = await Promise.all(Array.from({ length: 23 }, () => acceptId(store, agent)))
    const others = ids.filter((_, index) => index % 3 === 1)
    for (const id of others) await release(store, await claim(store, id))
    await claim(store, await acceptId(store, agent))
    await accept(store, agent).then(({ answer }) => requestCancel(store, answer.run_id))
    const all = await waitingIds(store)
    expect(all).toEqual([...ids, (ids.at(-1) as number) + 2])
    for (const limit of [1, 2, 5, 24, 100]) {
      const seen: number[] = []
      for (let piece = await store.runs.waiting(0, limit); piece.length > 0; ) {
        expect(piece.every(({ id, interrupted }) => interrupted === others.includes(id))).toBe(true)
        seen.push(...piece.map(({ id }) => id))
        piece = await store.runs.waiting(seen.at(-1) as number, limit)
      }
      expect(seen).toEqual(all)
    }
  })
}
