// Lists of runs: any filter against a plain one over everything, totals, pages, and texts that are cut.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Run, SourceType } from '../../src/contract/run.ts'
import type { RunFilter } from '../../src/store/runs/reads.ts'
import { AT } from './sample.ts'
import {
  acceptId,
  claim,
  createRunnable,
  DONE,
  end,
  everyRun,
  FAILED,
  get,
  runThrough,
  SOURCE,
  totalOf,
} from './sample-runs.ts'
import type { OpenStore } from './suite.ts'

/** The filters as a reader of the documentation understands them. */
const fits = (filter: RunFilter) => (run: Run) => {
  const { status, agent_id, environment, source, since, until, q } = filter
  const at = Date.parse(run.created_at)
  return (
    (status === undefined || run.status === status) &&
    (agent_id === undefined || run.agent_id === agent_id) &&
    (environment === undefined || run.environment === environment) &&
    (source === undefined || run.source.type === source) &&
    (since === undefined || at >= since) &&
    (until === undefined || at < until) &&
    [run.agent_name, run.task, run.result ?? ''].some((text) => text.toLowerCase().includes((q ?? '').toLowerCase()))
  )
}

const text = (max: number) =>
  fc
    .array(
      fc.constantFrom(...['a', 'A', 'k', '%', '_', '\\', "'", '"', '*', '?', '[', ' ', 'ä', 'Ä', 'Σ', 'σ', '🚀']),
      {
        maxLength: max,
      },
    )
    .map((letters) => letters.join(''))

const SOURCES: SourceType[] = ['api', 'webhook', 'mcp', 'cli', 'ui']
const source = fc.constantFrom(...SOURCES)
const minute = fc.nat({ max: 5 }).map((minutes) => AT + minutes * 60_000)
const runs = fc.array(
  fc.record({
    ...{ agent: fc.nat({ max: 3 }), state: fc.constantFrom('queued', 'executing', 'completed', 'error'), source },
    ...{ at: minute, task: text(8).map((words) => `t${words}`), result: text(6) },
  }),
  { minLength: 1, maxLength: 20 },
)
const filter = fc.record(
  {
    status: fc.constantFrom('running', 'completed', 'error'),
    agent_id: fc.nat({ max: 5 }),
    environment: fc.constantFrom('dev', 'prod', 'Dev', 'none'),
    ...{ source, since: minute, until: minute, q: text(3) },
  },
  { requiredKeys: [] },
)
const filters = fc.array(filter, { minLength: 1, maxLength: 12 })

export function runListFacts(open: OpenStore): void {
  test('any filter lists exactly what a plain filter over everything finds, newest first, with that total', async () => {
    await using opened = await open()
    const { store } = opened
    const agents = [
      ...[await createRunnable(store, 'first', 'dev'), await createRunnable(store, 'A k%_', 'dev')],
      ...[await createRunnable(store, 'Ärger σ', 'prod'), await createRunnable(store, 'last', 'prod')],
    ]
    const property = fc.asyncProperty(runs, filters, async (wanted, asked) => {
      await Promise.all(
        wanted.map(async ({ agent, state, source: type, at, task, result }) => {
          const more = { task, at, source: { ...SOURCE, type } }
          const id = await acceptId(store, agents[agent] as (typeof agents)[0], more)
          if (state === 'queued') return
          const held = await claim(store, id)
          if (state !== 'executing') await end(store, held, state === 'error' ? FAILED : { ...DONE, result })
        }),
      )
      const all = await everyRun(store)
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => b - a))
      for (const one of asked) {
        const expected = all.filter(fits(one))
        const listed = await store.runs.list(one, { page: 1, limit: 5000 })
        expect(listed, JSON.stringify(one)).toEqual({ items: expected, total: expected.length })
      }
    })
    await fc.assert(property, { numRuns: 25 })
  })

  test.each<[words: string, q: string]>([
    ['Ärger im Haus', 'ärger'],
    ['Ärger im Haus', 'ÄRGER IM'],
    ['ΑΘΗΝΑ', 'αθηνα'],
    ['МОСКВА', 'Москва'],
    ['日本語', '日本'],
    ['go 🚀 go', '🚀 GO'],
    ['İstanbul', 'İSTANBUL'],
    ['100% sure_thing', '100% SURE_'],
    ['back\\slash', 'K\\S'],
    ["it's", "IT'S"],
  ])('%s is found by q=%s in the task, in the result and in the name of the agent', async (words, q) => {
    await using opened = await open()
    const { store } = opened
    const [named, plain] = [await createRunnable(store, words), await createRunnable(store, 'plain')]
    const ids = [
      await acceptId(store, named, { task: 'other' }),
      await acceptId(store, plain, { task: `see: ${words}!` }),
      await runThrough(store, plain, {}, { ...DONE, result: words }),
    ]
    await runThrough(store, plain, { task: 'nothing' })
    const { items, total } = await store.runs.list({ q }, { page: 1, limit: 10 })
    expect(items.map(({ id }) => id)).toEqual(ids.toReversed())
    expect(total).toBe(3)
  })

  test('pages of any size together are the whole list, and a page behind the last is empty with the same total', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const ids = await Promise.all(Array.from({ length: 23 }, () => acceptId(store, agent)))
    const wanted = ids.toReversed()
    const every: RunFilter[] = [{}, { status: 'running' }, { agent_id: agent.id }, { environment: 'default' }]
    every.push({ source: 'api' }, { q: 'do it' }, { since: AT }, { status: 'running', environment: 'default' })
    for (const [filter, limit] of every.flatMap((one) => [1, 7, 23, 24].map((size) => [one, size] as const))) {
      expect((await everyRun(store, filter, limit)).map(({ id }) => id)).toEqual(wanted)
      const behind = { page: Math.ceil(23 / limit) + 1, limit }
      expect(await store.runs.list(filter, behind)).toEqual({ items: [], total: 23 })
    }
  })

  test('pages behind ten thousand runs go on where the others end', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const ids: number[] = []
    for (let round = 0; round < 11; round++) {
      ids.push(...(await Promise.all(Array.from({ length: 1000 }, () => acceptId(store, agent)))))
    }
    for (const page of [99, 100, 101, 102, 110]) {
      const { items, total } = await store.runs.list({ agent_id: agent.id }, { page, limit: 100 })
      expect(items.map(({ id }) => id)).toEqual(ids.toReversed().slice((page - 1) * 100, page * 100))
      expect(total).toBe(11_000)
    }
  })

  test.each<[what: string, whole: string, cut: string]>([
    ['at the bound stays', 'x'.repeat(4096), 'x'.repeat(4096)],
    ['one longer is cut', 'x'.repeat(4097), `${'x'.repeat(4096)}…`],
    ['of other letters is counted in letters, not in bytes', '日'.repeat(4096), '日'.repeat(4096)],
    ['of other letters is cut between letters', '🚀'.repeat(4097), `${'🚀'.repeat(4096)}…`],
    ['of a megabyte is cut', 'ab'.repeat(524_288), `${'ab'.repeat(2048)}…`],
  ])('a text %s in a list, and is whole in the run', async (_what, whole, cut) => {
    await using opened = await open()
    const { store } = opened
    const id = await runThrough(store, await createRunnable(store), { task: whole }, { ...DONE, result: whole })
    for (const filter of [{}, { source: 'api' } as const]) {
      const { items } = await store.runs.list(filter, { page: 1, limit: 10 })
      expect(items).toMatchObject([{ id, task: cut, result: cut }])
    }
    expect(await get(store, id)).toMatchObject({ task: whole, result: whole })
    expect(await store.runs.detail(id)).toMatchObject({ task: whole, result: whole })
  })

  test('variables of more than 16 KiB are left out of lists, and stand in the run', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const [small, large] = [{ a: 'x'.repeat(16_000) }, { a: 'x'.repeat(17_000) }]
    await acceptId(store, agent, { variables: small })
    const id = await acceptId(store, agent, { variables: large })
    const { items } = await store.runs.list({}, { page: 1, limit: 10 })
    expect(items.map(({ variables }) => variables)).toEqual([{}, small])
    expect((await get(store, id)).variables).toEqual(large)
  })

  test('a page stays where it is while runs change behind it, and a removed agent keeps its runs', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const ids = await Promise.all([1, 2, 3].map(() => acceptId(store, agent)))
    await store.write('removeAgent', { id: agent.id, at: AT })
    for (const id of ids) await end(store, await claim(store, id))
    expect((await everyRun(store, { agent_id: agent.id })).map(({ id }) => id)).toEqual(ids.toReversed())
    expect(await totalOf(store, { environment: 'default', status: 'completed' })).toBe(3)
  })
}
