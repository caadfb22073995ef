// The journal of a run, what is read of it, and that recording the same twice changes nothing.
import { expect, test } from 'vitest'
import { run as runSchema, step as stepSchema } from '../../src/contract/run.ts'
import type { Store } from '../../src/store/store.ts'
import { AT } from './sample.ts'
import {
  acceptId,
  claim,
  createRunnable,
  DONE,
  end,
  FAILED,
  get,
  intent,
  outcomeOf,
  record,
  SOURCE,
} from './sample-runs.ts'
import type { OpenStore } from './suite.ts'

const time = (at: number) => new Date(at).toISOString()
const usage = (input_tokens: number, output_tokens: number, cost_usd: number | null) => ({
  ...{ input_tokens, output_tokens, cost_usd },
})

async function started(store: Store) {
  return claim(store, await acceptId(store, await createRunnable(store)))
}

const stepsOf = async (store: Store, id: number) => (await store.runs.detail(id))?.steps ?? []

export function journalFacts(open: OpenStore): void {
  test('a run and its steps are read as the contract says, field by field', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store, 'worker', 'prod')
    const id = await acceptId(store, agent, { task: 'Look', variables: { host: 'a' }, at: AT })
    const held = await claim(store, id, 'one', AT + 10)
    const asked = [
      outcomeOf('1', { output: '{"text":"a"}', usage: usage(10, 3, 0.5), retries: 2 }),
      intent('1.0', 1, { name: 'files_read', server: 'files', input: '{"path":"/etc"}' }),
    ]
    await record(store, held, { entries: asked, at: AT + 20 })
    const failed = outcomeOf('1.0', { status: 'error', output: null, error: 'no such file' })
    await record(store, held, { entries: [failed, intent('2', 2)], at: AT + 25 })
    const entries = [outcomeOf('2', { usage: usage(20, 4, 0.25) })]
    await record(store, held, { entries, ending: { result: 'Fine.', message: 'Well done' }, at: AT + 40 })
    const detail = await store.runs.detail(id)
    const step = { server: null, status: 'completed', error: null, attempts: 1 }
    expect(detail).toEqual({
      ...{ id, run_id: id, agent_id: agent.id, agent_name: 'worker', agent_version: 1, environment: 'prod' },
      ...{ task: 'Look', variables: { host: 'a' }, status: 'completed', phase: null, message: 'Well done' },
      ...{ result: 'Fine.', error: null, model: 'offline/offline', cost_usd: 0.75, attempts: 1, source: SOURCE },
      usage: { input_tokens: 30, output_tokens: 7, total_tokens: 37 },
      ...{ steps_count: 3, tool_calls_count: 1 },
      ...{ created_at: time(AT), started_at: time(AT + 10), completed_at: time(AT + 40), duration_ms: 30 },
      steps: [
        {
          ...{ ...step, index: 0, type: 'model', name: 'offline/offline', attempts: 3, output: { text: 'a' } },
          input: { messages: [{ role: 'user', content: 'Do it' }] },
          usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
          ...{ started_at: time(AT + 10), completed_at: time(AT + 20), duration_ms: 10 },
        },
        {
          ...{ ...step, index: 1, type: 'tool', name: 'files_read', server: 'files', status: 'error', output: null },
          ...{ input: { path: '/etc' }, error: 'no such file', usage: null },
          ...{ started_at: time(AT + 20), completed_at: time(AT + 25), duration_ms: 5 },
        },
        {
          ...{ ...step, index: 2, type: 'model', name: 'step', input: null, output: 'fine' },
          usage: { input_tokens: 20, output_tokens: 4, total_tokens: 24 },
          ...{ started_at: time(AT + 25), completed_at: time(AT + 40), duration_ms: 15 },
        },
      ],
    })
    const { steps = [], ...run } = detail ?? {}
    expect(await get(store, id)).toEqual(run)
    expect(runSchema.parse(run)).toEqual(run)
    expect(steps.map((one) => stepSchema.parse(one))).toEqual(steps)
    expect((await store.runs.list({}, { page: 1, limit: 1 })).items).toEqual([run])
  })

  test('a failed run has its error, and no result', async () => {
    await using opened = await open()
    const { store } = opened
    const held = await started(store)
    await end(store, held, FAILED)
    const run = await get(store, held.id)
    expect(run).toMatchObject({ status: 'error', error: FAILED, message: FAILED.message, result: null })
    expect(runSchema.parse(run)).toEqual(run)
  })

  test('a clock that goes back makes no negative durations', async () => {
    await using opened = await open()
    const { store } = opened
    const held = await started(store)
    await record(store, held, { entries: [outcomeOf('1')], ending: DONE, at: AT - 60_000 })
    expect(await get(store, held.id)).toMatchObject({ duration_ms: 0 })
    expect(await stepsOf(store, held.id)).toMatchObject([{ duration_ms: 0 }])
  })

  test('a run that nobody knows is not found', async () => {
    await using opened = await open()
    const { runs } = opened.store
    expect([await runs.find(9), await runs.detail(9), await runs.changes(9, 0)]).toEqual(Array(3).fill(undefined))
  })

  test('recording the same twice, at once or after a reopening, changes neither steps nor tokens nor counts', async () => {
    await using opened = await open()
    const { store } = opened
    const held = await started(store)
    const entries = [
      outcomeOf('1', { usage: usage(10, 3, 0.5), retries: 1 }),
      intent('1.0', 1),
      intent('1.1', 2),
      outcomeOf('1.1', { usage: usage(1, 1, 0.25) }),
    ]
    const batch = { entries, consumed_ms: 40, at: AT + 1 }
    await record(store, held, batch)
    const before = await store.runs.detail(held.id)
    expect(before).toMatchObject({ steps_count: 3, tool_calls_count: 2, cost_usd: 0.75 })
    expect(before?.usage.total_tokens).toBe(15)
    const later = { ...batch, at: AT + 9 }
    expect(await Promise.all([record(store, held, later), record(store, held, later)])).toEqual(
      Array(2).fill({ owned: true, cancel_requested: false }),
    )
    expect(await store.runs.detail(held.id)).toEqual(before)
    const reopened = await opened.reopen()
    await record(reopened, held, later)
    expect(await reopened.runs.detail(held.id)).toEqual(before)
  })

  test('an end that is recorded again is still owned, and changes nothing; after it a stale owner stays fenced', async () => {
    await using opened = await open()
    const { store } = opened
    const stale = await started(store)
    const held = await claim(store, stale.id, 'two')
    const last = { entries: [outcomeOf('1', { usage: usage(5, 5, null) })], ending: DONE }
    await record(store, held, { ...last, at: AT + 1 })
    const before = await store.runs.detail(held.id)
    expect(await record(store, held, { ...last, at: AT + 9 })).toEqual({ owned: true, cancel_requested: false })
    expect(await record(store, stale, { ...last, at: AT + 9 })).toEqual({ owned: false, cancel_requested: false })
    expect(await store.runs.detail(held.id)).toEqual(before)
  })

  test('a step of an earlier attempt is done again once per attempt, and counted as such', async () => {
    await using opened = await open()
    const { store } = opened
    const first = await started(store)
    const again = { entries: [{ kind: 'again', key: '1' } as const] }
    await record(store, first, again)
    expect(await stepsOf(store, first.id)).toMatchObject([{ attempts: 1 }])
    const second = await claim(store, first.id, 'two')
    await record(store, second, again)
    await record(store, second, again)
    expect(await stepsOf(store, first.id)).toMatchObject([{ attempts: 2, status: 'running' }])
    await record(store, second, { entries: [outcomeOf('1')] })
    const third = await claim(store, first.id, 'three')
    await record(store, third, again)
    expect(await stepsOf(store, first.id)).toMatchObject([{ attempts: 2, status: 'completed' }])
  })

  test('a price that is not known makes the cost unknown for good', async () => {
    await using opened = await open()
    const { store } = opened
    const held = await started(store)
    expect((await get(store, held.id)).cost_usd).toBe(0)
    await record(store, held, { entries: [outcomeOf('1', { usage: usage(1, 1, 0.5) }), intent('2', 1)] })
    expect((await get(store, held.id)).cost_usd).toBe(0.5)
    await record(store, held, { entries: [outcomeOf('2', { usage: usage(1, 1, null) }), intent('3', 2)] })
    await record(store, held, { entries: [outcomeOf('3', { usage: usage(1, 1, 0.5) })] })
    expect(await get(store, held.id)).toMatchObject({ cost_usd: null, usage: { total_tokens: 6 } })
  })

  test('the end of a run closes what was under way: a tool call is unknown, a model turn is an error', async () => {
    await using opened = await open()
    const { store } = opened
    const held = await started(store)
    const under = [outcomeOf('1'), intent('1.0', 1), intent('1.1', 2), outcomeOf('1.1'), intent('2', 3)]
    await record(store, held, { entries: under })
    await end(store, held, FAILED, AT + 7)
    const steps = await stepsOf(store, held.id)
    expect(steps.map(({ status }) => status)).toEqual(['completed', 'unknown', 'completed', 'error'])
    expect(steps[1]).toMatchObject({ completed_at: time(AT + 7), error: expect.any(String) })
  })

  test('changes are told once, in the order of the journal, from any place in it', async () => {
    await using opened = await open()
    const { store } = opened
    const { id, epoch } = await started(store)
    const seen = async (after: number) => {
      const changes = await store.runs.changes(id, after)
      const steps = changes?.steps.map(({ seq, step }) => [seq, step.index, step.status]) ?? []
      return { seq: changes?.seq ?? -1, steps }
    }
    const first = await seen(0)
    expect(first.steps).toEqual([[first.seq, 0, 'running']])
    expect(await seen(first.seq)).toEqual({ seq: first.seq, steps: [] })
    // Two calls under way, and the second is over first.
    await record(store, { id, epoch }, { entries: [outcomeOf('1'), intent('1.0', 1), intent('1.1', 2)] })
    await record(store, { id, epoch }, { entries: [outcomeOf('1.1')] })
    await record(store, { id, epoch }, { entries: [outcomeOf('1.0')] })
    const later = await seen(first.seq)
    expect(later.steps.map(([, ...rest]) => rest)).toEqual([
      [0, 'completed'],
      [2, 'completed'],
      [1, 'completed'],
    ])
    const places = later.steps.map(([seq]) => Number(seq))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places.at(-1)).toBe(later.seq)
    for (const [index, place] of places.entries()) {
      expect((await seen(place)).steps).toEqual(later.steps.slice(index + 1))
    }
    await store.write('setPhase', { run_id: id, epoch, phase: 'waiting' })
    expect((await seen(later.seq)).seq).toBeGreaterThan(later.seq)
    await end(store, { id, epoch })
    expect(await store.runs.changes(id, later.seq)).toMatchObject({ run: { status: 'completed' }, steps: [] })
    const whole = await store.runs.changes(id, 0)
    expect(whole?.steps.map(({ step }) => step).toSorted((a, b) => a.index - b.index)).toEqual(await stepsOf(store, id))
    expect(whole?.steps[0]?.step.input).toEqual({ messages: [{ role: 'user', content: 'Do it' }] })
  })
}
