// Lists with filters, their totals, and pages that neither repeat nor skip.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Agent } from '../../src/contract/agent.ts'
import type { AgentFilter } from '../../src/store/agents.ts'
import { createAgent, createEnvironment, definition, everyPage, removeAgent, updateAgent } from './sample.ts'
import type { OpenStore } from './suite.ts'

/** The filters as a reader of the documentation understands them. */
const fits =
  ({ environment, enabled, q = '' }: AgentFilter) =>
  (agent: Agent): boolean =>
    (environment === undefined || agent.environment === environment) &&
    (enabled === undefined || agent.enabled === enabled) &&
    [agent.name, agent.description].some((text) => text.toLowerCase().includes(q.toLowerCase()))

/** Short texts of the letters that patterns, quotes and cases are made of, so that they often meet. */
const text = (max: number) =>
  fc
    .array(fc.constantFrom(...['a', 'A', 'b', 'B', '%', '_', '\\', "'", '"', '*', '?', '[', ' ', '.']), {
      maxLength: max,
    })
    .map((letters) => letters.join(''))

const agents = fc.array(
  fc.record({
    description: text(8),
    environment: fc.constantFrom('dev', 'prod'),
    enabled: fc.boolean(),
    kept: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
)
const filters = fc.array(
  fc.record(
    { environment: fc.constantFrom('dev', 'prod', 'Dev', 'none'), enabled: fc.boolean(), q: text(3) },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 10 },
)

export function listFacts(open: OpenStore): void {
  test('any filter lists exactly what a brute-force count finds, in order of ids, with that total', async () => {
    await using opened = await open()
    const { store } = opened
    const ids = { dev: await createEnvironment(store, 'dev'), prod: await createEnvironment(store, 'prod') }
    let next = 0
    const property = fc.asyncProperty(agents, filters, async (wanted, asked) => {
      await Promise.all(
        wanted.map(async ({ description, environment, enabled, kept }) => {
          const name = `${next++ % 2 ? 'Odd' : 'even'}_${next}.B`
          const { id } = await createAgent(store, ids[environment], name, { description, enabled })
          if (!kept) await removeAgent(store, id)
        }),
      )
      const all = await everyPage((page) => store.agents.list({}, page))
      for (const filter of asked) {
        const expected = all.filter(fits(filter))
        expect(await store.agents.list(filter, { page: 1, limit: 1000 })).toEqual({
          items: expected,
          total: expected.length,
        })
      }
    })
    await fc.assert(property, { numRuns: 30 })
  })

  test.each([
    ['100%', ['100% sure']],
    ['_', ['under_score']],
    ['\\', ['back\\slash']],
    ['%', ['100% sure']],
    ["'", ["it's"]],
    ['SURE', ['100% sure']],
    ['Under_S', ['under_score']],
    ['k\\s', ['back\\slash']],
    ['%_', []],
    ['', ['100% sure', 'under_score', 'back\\slash', "it's", 'PLAIN']],
    ['plain', ['PLAIN']],
  ])('q=%s means exactly these characters in any case', async (q, expected) => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    const descriptions = ['100% sure', 'under_score', 'back\\slash', "it's", 'PLAIN']
    for (const [index, description] of descriptions.entries()) {
      await createAgent(opened.store, environment, `n${index}`, { description })
    }
    const { items, total } = await opened.store.agents.list({ q }, { page: 1, limit: 100 })
    expect(items.map(({ description }) => description)).toEqual(expected)
    expect(total).toBe(expected.length)
  })

  test.each([
    ['Ärger', 'Ärger'],
    ['Ärger', 'ärger'],
    ['ärger', 'ÄRGER'],
    ['ΑΘΗΝΑ', 'αθηνα'],
    ['МОСКВА', 'Москва'],
    ['日本語', '日本'],
    ['go 🚀 go', '🚀'],
  ])('the description %s is found by q=%s', async (description, q) => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    await createAgent(opened.store, environment, 'found', { description })
    await createAgent(opened.store, environment, 'other', { description: 'nothing' })
    const { items, total } = await opened.store.agents.list({ q }, { page: 1, limit: 100 })
    expect(items.map(({ name }) => name)).toEqual(['found'])
    expect(total).toBe(1)
  })

  test('a filter looks at the newest version only', async () => {
    await using opened = await open()
    const { store } = opened
    const { id } = await createAgent(store, await createEnvironment(store, 'default'), 'old name', { enabled: true })
    await updateAgent(store, id, { base: 1, definition: definition('new name', { enabled: false }) })
    const total = async (filter: AgentFilter) => (await store.agents.list(filter, { page: 1, limit: 10 })).total
    expect([await total({ q: 'old' }), await total({ q: 'new' })]).toEqual([0, 1])
    expect([await total({ enabled: true }), await total({ enabled: false })]).toEqual([0, 1])
  })

  test('pages of any size together are the whole list, and a page behind the last is empty', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    const keys = await Promise.all(
      Array.from({ length: 23 }, (_, index) =>
        createAgent(store, environment, `n${index}`, { enabled: index % 3 > 0 }),
      ),
    )
    const ids = keys.map(({ id }) => id)
    const enabled = ids.filter((_, index) => index % 3 > 0)
    for (const limit of [1, 2, 7, 22, 23, 24, 100]) {
      expect((await everyPage((page) => store.agents.list({}, page), limit)).map(({ id }) => id)).toEqual(ids)
      const some = await everyPage((page) => store.agents.list({ enabled: true }, page), limit)
      expect(some.map(({ id }) => id)).toEqual(enabled)
      const behind = Math.ceil(23 / limit) + 1
      expect(await store.agents.list({}, { page: behind, limit })).toEqual({ items: [], total: 23 })
    }
  })

  test('pages stay where they are while agents are changed and added behind them', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    const keys = await Promise.all(
      Array.from({ length: 6 }, (_, index) => createAgent(store, environment, `n${index}`)),
    )
    const seen: number[] = []
    for (const page of [1, 2, 3]) {
      const { items } = await store.agents.list({}, { page, limit: 2 })
      seen.push(...items.map(({ id }) => id))
      await updateAgent(store, items[0]?.id as number, { base: 1, definition: definition(`aa changed ${page}`) })
      await createAgent(store, environment, `aa added ${page}`)
    }
    expect(seen).toEqual(keys.map(({ id }) => id))
  })

  test('environments are paged in order of their ids', async () => {
    await using opened = await open()
    const wanted = ['zeta', 'alpha', 'Mid', 'beta', 'omega']
    for (const name of wanted) await createEnvironment(opened.store, name)
    const store = await opened.reopen()
    for (const limit of [1, 2, 5, 9]) {
      const all = await everyPage((page) => store.environments.list(page), limit)
      expect(all.map(({ name }) => name)).toEqual(wanted)
    }
    expect(await store.environments.list({ page: 4, limit: 2 })).toEqual({ items: [], total: 5 })
  })
}
