// What holds for the queue whatever is done to it, checked against a plain model that is slow and obvious.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairQueue } from '../../src/runs/local/fair-queue.ts'

const AGENTS = [1, 2, 3, 4]

interface Agent {
  id: number
  front: number[]
  back: number[]
  held: number
  limit: number | null
  /** Grants to others while it could have been served. */
  passedOver: number
}

const agentId = fc.constantFrom(...AGENTS)
/** Most runs are one agent's, so that it comes to its share. */
const busyAgentId = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 3, 4)
const where = fc.constantFrom('front' as const, 'back' as const)
const limit = fc.option(fc.integer({ min: 1, max: 6 }), { freq: 1 })
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), agentId: busyAgentId, where }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), agentId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('limit' as const), agentId, limit }) },
)

/** The queue and its model, kept in step. Every agent has a begun run, so that its limit is never forgotten. */
function createPair(slots: number) {
  const queue = createFairQueue(slots)
  const share = Math.max(1, Math.floor((slots * 3) / 4))
  const agents = new Map(
    AGENTS.map((id): [number, Agent] => {
      queue.begin(id)
      queue.setLimit(id, null)
      return [id, { id, front: [], back: [], held: 0, limit: null, passedOver: 0 }]
    }),
  )
  const agent = (id: number) => agents.get(id) as Agent
  const all = () => [...agents.values()]
  const waiting = () => all().flatMap(({ front, back }) => [...front, ...back])
  const busy = () => all().reduce((sum, { held }) => sum + held, 0)
  const couldStart = ({ front, back, held, limit }: Agent) =>
    front.length + back.length > 0 && (limit === null || held < limit)
  let lastId = 0

  function countPassedOver(served: Agent | undefined) {
    for (const other of all()) {
      const isNext = other !== served && couldStart(other) && other.held < share
      if (!isNext) other.passedOver = 0
      else if (served) other.passedOver += 1
      expect(other.passedOver, 'nobody is passed over twice by the same agent').toBeLessThan(AGENTS.length)
    }
  }

  function expectFair(served: Agent) {
    expect(busy()).toBeLessThan(slots)
    expect(couldStart(served)).toBe(true)
    if (served.held >= share) expect(all().filter((other) => other !== served && couldStart(other))).toEqual([])
  }

  function take(): number | undefined {
    const grant = queue.take()
    if (!grant) {
      expect(busy() === slots || !all().some(couldStart), 'a free slot goes to whoever may have it').toBe(true)
      return undefined
    }
    const served = agent(grant.agentId)
    expectFair(served)
    expect(grant.id).toBe(served.front.shift() ?? served.back.shift())
    served.held += 1
    countPassedOver(served)
    return grant.id
  }

  const without = (ids: number[], id: number) => ids.filter((other) => other !== id)

  return {
    waiting,
    take,
    add(id: number, where: 'front' | 'back') {
      lastId += 1
      queue.add(id, lastId, where)
      agent(id)[where].push(lastId)
    },
    release(id: number) {
      if (agent(id).held === 0) return
      queue.release(id)
      agent(id).held -= 1
    },
    remove(nth: number): number | undefined {
      const id = waiting()[nth % Math.max(1, waiting().length)]
      if (id === undefined) return undefined
      const owner = all().find(({ front, back }) => front.includes(id) || back.includes(id)) as Agent
      expect(queue.remove(id)).toBe(owner.id)
      Object.assign(owner, { front: without(owner.front, id), back: without(owner.back, id) })
      return id
    },
    limit(id: number, limit: number | null) {
      queue.setLimit(id, limit)
      agent(id).limit = limit
    },
    check() {
      countPassedOver(undefined)
      expect(queue.waiting).toBe(waiting().length)
      for (const id of AGENTS) {
        const others = all().filter((other) => other.id !== id)
        expect(queue.isOverShare(id)).toBe(agent(id).held > share && others.some(couldStart))
      }
    },
  }
}

type Pair = ReturnType<typeof createPair>
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never

function apply(pair: Pair, step: Operation): { taken?: number | undefined; removed?: number | undefined } {
  if (step.kind === 'take') return { taken: pair.take() }
  if (step.kind === 'remove') return { removed: pair.remove(step.nth) }
  if (step.kind === 'add') pair.add(step.agentId, step.where)
  if (step.kind === 'limit') pair.limit(step.agentId, step.limit)
  if (step.kind === 'release') pair.release(step.agentId)
  return {}
}

/** Frees every slot and takes what is left, until nothing waits. */
function drain(pair: Pair): number[] {
  const taken: number[] = []
  for (let before = -1; before !== taken.length; ) {
    before = taken.length
    for (const id of AGENTS) for (let n = 0; n < 10; n++) pair.release(id)
    for (let id = pair.take(); id !== undefined; id = pair.take()) taken.push(id)
  }
  return taken
}

const slots = fc.integer({ min: 1, max: 9 })

test('limits, shares, turns and order hold, and every id is taken once unless it was removed', () => {
  fc.assert(
    fc.property(slots, fc.array(operation, { maxLength: 200, size: 'max' }), (count, operations) => {
      const pair = createPair(count)
      const taken: number[] = []
      const removed: number[] = []
      let added = 0
      for (const step of operations) {
        const outcome = apply(pair, step)
        if (step.kind === 'add') added += 1
        if (outcome.taken !== undefined) taken.push(outcome.taken)
        if (outcome.removed !== undefined) removed.push(outcome.removed)
        pair.check()
      }
      const rest = drain(pair)
      expect(pair.waiting()).toEqual([])
      const everyId = Array.from({ length: added }, (_, index) => index + 1)
      expect([...taken, ...removed, ...rest].toSorted((a, b) => a - b)).toEqual(everyId)
    }),
    { numRuns: 100 },
  )
})

test('whatever happened, a queue that is empty again behaves like a new one', () => {
  const ids = fc.array(fc.record({ agentId, id: fc.integer({ min: 1, max: 20 }) }), { maxLength: 40 })
  fc.assert(
    fc.property(slots, ids, (count, entries) => {
      const queue = createFairQueue(count)
      for (const { agentId, id } of entries) {
        queue.add(agentId, agentId * 100 + id, 'back')
        queue.setLimit(agentId, null)
      }
      for (let grant = queue.take(); grant; grant = queue.take()) queue.release(grant.agentId)
      expect(queue.waiting).toBe(0)
      queue.add(1, 1, 'back')
      queue.add(1, 2, 'back')
      expect([queue.take(), queue.take()]).toEqual([{ agentId: 1, id: 1 }, undefined])
    }),
  )
})
