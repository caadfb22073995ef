// Random sequences of syncs and lists: whatever happens, names, counts and ids are those of the plainest model.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { nameTools } from '../../src/store/tools/tool-name.ts'
import { createEnvironment, everyPage } from './sample.ts'
import { countsOf, list, server, sync } from './sample-tools.ts'
import type { OpenStore } from './suite.ts'

type Change =
  | { kind: 'sync'; servers: { name: string; hash: number; keeps_tools: boolean }[] }
  | { kind: 'list'; name: string; hash: number; tools: string[] }

/** Few enough to meet often, and some that look like the full names of others, or like no name at all. */
const serverName = fc.constantFrom('a', 'b', 'c.d', 'a__b')
const ownName = fc.constantFrom(
  'x',
  'y',
  'c',
  'b__c',
  'a__x',
  'b__a__x',
  'notify',
  'ü',
  '',
  'x'.repeat(80),
  ':1',
  '1:x',
)
const hash = fc.nat({ max: 1 })

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sync'),
      servers: fc.uniqueArray(fc.record({ name: serverName, hash, keeps_tools: fc.constantFrom(true, true, false) }), {
        selector: ({ name }) => name,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('list'), name: serverName, hash },
      tools: fc.array(ownName, { maxLength: 8 }),
    }),
  },
)
/** Each inner list is handed over in one tick. */
const sequence = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 10 })

/** Servers with their configuration and the own names of their tools. */
type Model = Map<string, { hash: number; tools: Set<string> }>

function applyToModel(model: Model, change: Change): void {
  if (change.kind === 'list') {
    const known = model.get(change.name)
    if (known?.hash === change.hash) known.tools = new Set(change.tools)
    return
  }
  const before = new Map(model)
  model.clear()
  for (const { name, hash, keeps_tools } of change.servers) {
    const tools = keeps_tools ? before.get(name)?.tools : undefined
    model.set(name, { hash, tools: tools ?? new Set() })
  }
}

const applyToStore = (store: Store, environment: number, change: Change) =>
  change.kind === 'list'
    ? list(store, environment, change.name, change.tools, { config_hash: String(change.hash) })
    : sync(
        store,
        environment,
        change.servers.map(({ hash: config, ...rest }) => server(rest.name, { ...rest, config_hash: String(config) })),
      )

const keyOf = (tool: { server: string; own_name: string }) => JSON.stringify([tool.server, tool.own_name])

async function expectSame(store: Store, environment: number, model: Model): Promise<Map<string, number>> {
  const expected = [...model].flatMap(([name, { tools }]) => [...tools].map((own_name) => ({ server: name, own_name })))
  const stored = await store.tools.ofEnvironment(environment)
  expect(stored.map(keyOf).toSorted()).toEqual(expected.map(keyOf).toSorted())
  const names = stored.map(({ name }) => name)
  expect(names).toEqual(nameTools(stored))
  expect(new Set(names).size).toBe(names.length)
  expect(await countsOf(store, environment)).toEqual({ servers: model.size, tools: expected.length })
  const servers = await store.servers.ofEnvironment(environment)
  const sizes = servers.map(({ name, tools_count }) => [name, tools_count])
  expect(new Map(sizes as [string, number][])).toEqual(
    new Map([...model].map(([name, { tools }]) => [name, tools.size])),
  )
  return new Map(stored.map((tool) => [keyOf(tool), tool.id]))
}

/** Changes of one tick are seen together, so a tool may have gone and come back between two looks at it. */
const keptThroughout = (steps: Model[], key: string): boolean =>
  steps.every((model) =>
    [...model].some(([name, { tools }]) => [...tools].some((own) => keyOf({ server: name, own_name: own }) === key)),
  )

const copyOf = (model: Model): Model => new Map([...model].map(([name, one]) => [name, { ...one }]))

export function toolModelFacts(open: OpenStore): void {
  test('names are unique and follow from what is stored, counts are right, and what is kept keeps its id', async () => {
    await using opened = await open()
    let { store } = opened
    let rounds = 0
    const seen = new Set<number>()
    const property = fc.asyncProperty(sequence, async (groups) => {
      const name = `round${++rounds}`
      const environment = await createEnvironment(store, name)
      const model: Model = new Map()
      let ids = new Map<string, number>()
      for (const group of groups) {
        const steps: Model[] = []
        for (const change of group) {
          applyToModel(model, change)
          steps.push(copyOf(model))
        }
        await Promise.all(group.map((change) => applyToStore(store, environment, change)))
        const now = await expectSame(store, environment, model)
        for (const [key, id] of now) {
          const before = ids.get(key)
          if (before !== undefined && keptThroughout(steps, key)) expect(id).toBe(before)
          else expect(seen, `${key} is a new tool`).not.toContain(id)
          seen.add(id)
        }
        ids = now
      }
      if (rounds % 10 === 0) store = await opened.reopen()
      expect(await expectSame(store, environment, model)).toEqual(ids)
      const listed = await everyPage((page) => store.tools.list({ environment: name }, page), 3)
      expect(listed.map(({ id }) => id)).toEqual([...ids.values()].toSorted((a, b) => a - b))
    })
    await fc.assert(property, { numRuns: 60 })
  })
}
