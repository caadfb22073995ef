// Random sequences of changes against the plainest model there is: a list in memory.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ErrorCode } from '../../src/contract/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { createAgent, createEnvironment, definition, everyAgent, outcome, removeAgent, updateAgent } from './sample.ts'
import type { OpenStore } from './suite.ts'

type Change =
  | { kind: 'create'; environment: number; name: string; enabled: boolean }
  | { kind: 'update'; nth: number; name: string; enabled: boolean; stale: boolean }
  | { kind: 'remove'; nth: number }

interface ModelAgent {
  id: number
  environment: number
  name: string
  enabled: boolean
  version: number
}

const name = fc.constantFrom('a', 'b', 'c', 'd')
const environment = fc.nat({ max: 2 })
const nth = fc.nat({ max: 20 })
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create'), environment, name, enabled: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('update'), nth, name, enabled: fc.boolean(), stale: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), nth }) },
)
/** Each inner list is handed over in one tick. */
const sequence = fc.array(fc.array(change, { minLength: 1, maxLength: 8 }), { maxLength: 8 })

class Model {
  readonly agents: ModelAgent[] = []

  private isTaken = (environment: number, name: string) =>
    this.agents.some((agent) => agent.environment === environment && agent.name === name)

  create(agent: Omit<ModelAgent, 'id'>): ErrorCode | ModelAgent {
    if (this.isTaken(agent.environment, agent.name)) return 'AGENT_EXISTS'
    // The store gives the id.
    const added = { ...agent, id: Number.NaN }
    this.agents.push(added)
    return added
  }

  update(id: number, base: number, name: string, enabled: boolean): ErrorCode | 'ok' {
    const agent = this.agents.find((one) => one.id === id)
    if (!agent) return 'AGENT_NOT_FOUND'
    if (agent.version !== base) return 'CONFLICT'
    if (agent.name !== name && this.isTaken(agent.environment, name)) return 'AGENT_EXISTS'
    Object.assign(agent, { name, enabled, version: base + 1 })
    return 'ok'
  }

  remove(id: number): ErrorCode | 'ok' {
    const index = this.agents.findIndex((one) => one.id === id)
    if (index < 0) return 'AGENT_NOT_FOUND'
    this.agents.splice(index, 1)
    return 'ok'
  }
}

/** Does the change in the model at once and in the store, and resolves when both agree on the outcome. */
function apply(store: Store, model: Model, environments: number[], known: readonly ModelAgent[], change: Change) {
  if (change.kind === 'create') {
    const { environment, name, enabled } = change
    const expected = model.create({ environment, name, enabled, version: 1 })
    const created = createAgent(store, environments[environment] as number, name, { enabled })
    if (typeof expected === 'string') return outcome(created).then((code) => expect(code).toBe(expected))
    return created.then(({ id }) => {
      expected.id = id
    })
  }
  const target = known[change.nth % Math.max(1, known.length)] ?? { id: 999_999, version: 1 }
  if (change.kind === 'remove') {
    const expected = model.remove(target.id)
    return outcome(removeAgent(store, target.id)).then((code) => expect(code).toBe(expected))
  }
  const base = target.version + (change.stale ? 1 : 0)
  const expected = model.update(target.id, base, change.name, change.enabled)
  const changed = definition(change.name, { enabled: change.enabled })
  return outcome(updateAgent(store, target.id, { base, definition: changed })).then((code) => {
    expect(code).toBe(expected)
  })
}

async function expectSame(store: Store, model: Model, names: string[]): Promise<void> {
  for (const [environment, name] of names.entries()) {
    const expected = model.agents.filter((agent) => agent.environment === environment)
    expect((await store.environments.find(name))?.agents_count).toBe(expected.length)
    const found = (await everyAgent(store, name)).map(({ id, name, enabled, version }) => ({
      id,
      name,
      enabled,
      version,
    }))
    expect(found).toEqual(
      expected
        .map(({ id, name, enabled, version }) => ({ id, name, enabled, version }))
        .toSorted((a, b) => a.id - b.id),
    )
    const enabled = await store.agents.list({ environment: name, enabled: true }, { page: 1, limit: 1 })
    expect(enabled.total).toBe(expected.filter((agent) => agent.enabled).length)
  }
}

export function modelFacts(open: OpenStore): void {
  test('agents, their counts and every refusal are those of a list in memory, also after a reopening', async () => {
    await using opened = await open()
    let { store } = opened
    let rounds = 0
    let everything = 0
    const property = fc.asyncProperty(sequence, async (groups) => {
      rounds++
      const names = [0, 1, 2].map((index) => `round${rounds}-${index}`)
      const environments = await Promise.all(names.map((name) => createEnvironment(store, name)))
      const model = new Model()
      for (const group of groups) {
        // Ids are known once the tick is over, so changes of a group pick from what was there before it.
        const known = model.agents.map((agent) => ({ ...agent }))
        await Promise.all(group.map((change) => apply(store, model, environments, known, change)))
      }
      await expectSame(store, model, names)
      everything += model.agents.length
      expect((await store.agents.list({}, { page: 1, limit: 1 })).total).toBe(everything)
      if (rounds % 10 === 0) store = await opened.reopen()
      await expectSame(store, model, names)
    })
    await fc.assert(property, { numRuns: 40 })
  })
}
