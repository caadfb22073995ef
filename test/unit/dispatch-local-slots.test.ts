// What a run in execution does with its slot: lets others go first, gives it back while it waits, has it again after.
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Control, type Execute, RunAborted } from '../../src/runs/dispatch.ts'
import { openHouse, quiet, stateOf, upTo } from './dispatch-house.ts'

const A = 1
const B = 2

/** Two slots, both of agent A, and a run of agent B that waits. */
async function crowdedHouse() {
  const house = openHouse({ slots: 2 })
  await house.dispatch.start()
  house.accept(A, [1, 2, 3])
  house.accept(B, [10])
  return house
}

/** A run whose slot was given back while it waits for something in the hands of the test. */
async function awayHouse() {
  const house = openHouse()
  await house.dispatch.start()
  house.accept(A, [1])
  const other = Promise.withResolvers<string>()
  const outcome = house.control(1).withoutSlot(() => other.promise)
  house.accept(B, [2, 3])
  return { ...house, other, outcome }
}

describe('yieldSlot', () => {
  test('keeps the slot while the agent is within its share', async () => {
    const { dispatch, accept, control, begun } = openHouse({ slots: 2 })
    await dispatch.start()
    accept(A, [1, 2, 3])
    expect(control(1).isOverShare()).toBe(false)
    await control(1).yieldSlot()
    expect(begun).toEqual([1, 2])
  })

  test('lets another agent go first, and goes on before the rest of its own', async () => {
    const { control, begun, finish } = await crowdedHouse()
    expect(control(1).isOverShare()).toBe(true)
    const yielded = control(1).yieldSlot()
    expect(begun).toEqual([1, 2, 10])
    expect(await stateOf(yielded)).toBe('pending')
    await finish(10)
    expect(await stateOf(yielded)).toEqual({ value: undefined })
    expect(begun).toEqual([1, 2, 10])
  })

  test('gives one slot to one run that waits, not one from everybody', async () => {
    const { control, begun } = await crowdedHouse()
    const yielded = control(1).yieldSlot()
    await control(2).yieldSlot()
    expect(await stateOf(yielded)).toBe('pending')
    expect(begun).toEqual([1, 2, 10])
  })

  test('that was left waiting by a run that has ended does not begin it again', async () => {
    const { control, begun, finish } = await crowdedHouse()
    const yielded = control(1).yieldSlot()
    await finish(1)
    expect(await stateOf(yielded)).toEqual({ value: undefined })
    await finish(10)
    expect(begun).toEqual([1, 2, 10, 3])
  })

  test('rejects when the run is cancelled, while it waits and later', async () => {
    const { dispatch, control, finish, begun } = await crowdedHouse()
    const yielded = control(1).yieldSlot()
    dispatch.cancel(1)
    await expect(yielded).rejects.toEqual(new RunAborted('cancelled'))
    await expect(control(1).yieldSlot()).rejects.toEqual(new RunAborted('cancelled'))
    await finish(1)
    await finish(10)
    expect(begun).toEqual([1, 2, 10, 3])
  })

  test('rejects while it waits when the service stops', async () => {
    const { dispatch, control, finish } = await crowdedHouse()
    const yielded = control(1).yieldSlot()
    const stopped = dispatch.stop(10_000)
    await expect(yielded).rejects.toEqual(new RunAborted('stopped'))
    expect(control(1).signal.reason).toEqual(new RunAborted('stopped'))
    expect([control(2).isOverShare(), control(2).signal.aborted]).toEqual([false, false])
    for (const id of [1, 2, 10]) await finish(id)
    await stopped
  })
})

describe('withoutSlot', () => {
  test('lets another run have the slot, and passes the value on with a slot in hand', async () => {
    const { begun, other, outcome, finish } = await awayHouse()
    expect(begun).toEqual([1, 2])
    other.resolve('answer')
    expect(await stateOf(outcome)).toBe('pending')
    await finish(2)
    expect(await stateOf(outcome)).toEqual({ value: 'answer' })
    expect(begun, 'the next turn was its own').toEqual([1, 2])
  })

  test('passes a failure of the work on at once: a run needs no slot to end', async () => {
    const { other, outcome } = await awayHouse()
    other.reject('no answer')
    expect(await stateOf(outcome)).toEqual({ error: 'no answer' })
  })

  test('waits for no slot once the run is cancelled', async () => {
    const { dispatch, other, outcome, finish, begun } = await awayHouse()
    other.resolve('answer')
    expect(await stateOf(outcome)).toBe('pending')
    dispatch.cancel(1)
    expect(await stateOf(outcome)).toEqual({ value: 'answer' })
    await finish(1)
    expect(begun).toEqual([1, 2])
    await finish(2)
    expect(begun).toEqual([1, 2, 3])
  })

  test('waits for no slot once the service stops, and lets a step under way finish', async () => {
    const { dispatch, control, other, outcome, finish } = await awayHouse()
    const stopped = dispatch.stop(10_000)
    expect(control(1).signal.aborted).toBe(false)
    other.resolve('answer')
    expect(await stateOf(outcome)).toEqual({ value: 'answer' })
    await finish(1)
    await finish(2)
    await stopped
  })

  test('of several at once brings the slot back with the last', async () => {
    const { dispatch, accept, control, begun, finish } = openHouse()
    await dispatch.start()
    accept(A, [1])
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const outcomes = [first, second].map(({ promise }) => control(1).withoutSlot(() => promise))
    accept(A, [2, 3])
    first.resolve('one')
    expect(await stateOf(outcomes[0] as Promise<string>)).toEqual({ value: 'one' })
    second.resolve('two')
    expect(await stateOf(outcomes[1] as Promise<string>)).toBe('pending')
    await finish(2)
    expect(await stateOf(outcomes[1] as Promise<string>)).toEqual({ value: 'two' })
    expect(begun).toEqual([1, 2])
  })

  test('begun while another one waits for the slot lets that one go on', async () => {
    const { control, other, outcome, begun, finish } = await awayHouse()
    other.resolve('answer')
    expect(await stateOf(outcome)).toBe('pending')
    const last = Promise.withResolvers<void>()
    const lastOutcome = control(1).withoutSlot(() => last.promise)
    expect(await stateOf(outcome)).toEqual({ value: 'answer' })
    await finish(2)
    last.resolve()
    expect([begun, await stateOf(lastOutcome)]).toEqual([[1, 2, 3], 'pending'])
    await finish(3)
    expect(await stateOf(lastOutcome)).toEqual({ value: undefined })
  })

  test('keeps the limit of the agent known while all its runs are away', async () => {
    const { dispatch, accept, control } = openHouse({ slots: 2 })
    await dispatch.start()
    accept(A, [1, 2])
    const other = Promise.withResolvers<void>()
    const outcomes = [1, 2].map((id) => control(id).withoutSlot(() => other.promise))
    other.resolve()
    expect(await stateOf(Promise.all(outcomes))).toEqual({ value: [undefined, undefined] })
  })

  test('lets runs that wait for runs of their own agent end with a single slot', async () => {
    const ends = new Map(upTo(20).map((id) => [id, Promise.withResolvers<void>()]))
    const execute: Execute = async (id, control) => {
      await turnOfTheLoop()
      await control.withoutSlot(async () => ends.get(id + 1)?.promise)
      ends.get(id)?.resolve()
    }
    const { dispatch, accept } = openHouse({ execute })
    await dispatch.start()
    accept(A, upTo(20), 1)
    await Promise.all([...ends.values()].map(({ promise }) => promise))
  })
})

test('ten thousand waiting runs of one agent let a lone run start with the next step of any of them', async () => {
  const { dispatch, accept, control, begun } = openHouse({ slots: 32, maxQueued: 20_000 })
  await dispatch.start()
  accept(A, upTo(10_000))
  accept(B, [20_000])
  void control(7).yieldSlot()
  expect(begun).toEqual([...upTo(32), 20_000])
})

test('ten thousand runs that give their slots back in their first moment start in a row, not one inside the other', async () => {
  const begun: number[] = []
  const execute: Execute = async (id, control) => {
    begun.push(id)
    await control.withoutSlot(quiet)
  }
  const { dispatch, accept } = openHouse({ maxQueued: 10_000, execute })
  accept(A, upTo(10_000))
  await dispatch.start()
  expect(begun).toEqual(upTo(10_000))
  await dispatch.stop(1000)
})

const step = fc.constantFrom('work', 'yield', 'away')
const script = fc.record({
  agentId: fc.constantFrom(A, A, A, B, 3),
  steps: fc.array(step, { maxLength: 6 }),
  isCancelled: fc.boolean(),
})
type Script = typeof script extends fc.Arbitrary<infer Value> ? Value : never

/** Who holds a slot as the runs see it; complains when there are too many. */
function createDoorkeeper(slots: number, limit: number | null) {
  const inside: number[] = []
  return {
    enter(agentId: number) {
      inside.push(agentId)
      expect(inside.length).toBeLessThanOrEqual(slots)
      expect(inside.filter((other) => other === agentId).length).toBeLessThanOrEqual(limit ?? slots)
    },
    leave: (agentId: number) => void inside.splice(inside.indexOf(agentId), 1),
  }
}

async function perform({ agentId, steps }: Script, control: Control, door: ReturnType<typeof createDoorkeeper>) {
  const outside = async (work: () => Promise<void>) => {
    door.leave(agentId)
    await work().catch(() => {})
    // Once it is cancelled it waits for no slot, and does nothing more.
    if (!control.signal.aborted) door.enter(agentId)
    return !control.signal.aborted
  }
  door.enter(agentId)
  for (const kind of steps) {
    if (kind === 'work') await quiet()
    if (kind === 'away' && !(await outside(() => control.withoutSlot(quiet)))) return
    if (kind === 'yield' && control.isOverShare() && !(await outside(control.yieldSlot))) return
  }
  door.leave(agentId)
}

test('whatever runs do with their slots, all end, once, and no more hold one than there are', async () => {
  const scripts = fc.array(script, { minLength: 1, maxLength: 40, size: 'max' })
  const limits = fc.option(fc.integer({ min: 1, max: 3 }))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), limits, scripts, async (slots, limit, runs) => {
      const door = createDoorkeeper(slots, limit)
      const cancelled = new Set<number>()
      const ended: number[] = []
      const allEnded = Promise.withResolvers<void>()
      const execute: Execute = async (id, control) => {
        // Cancelled before it was begun: it has no slot, and its claim would end it.
        if (!cancelled.has(id)) await perform(runs[id - 1] as Script, control, door)
        if (ended.push(id) === runs.length) allEnded.resolve()
      }
      const { dispatch, accept, lines } = openHouse({ slots, execute })
      await dispatch.start()
      for (const [index, { agentId, isCancelled }] of runs.entries()) {
        const id = index + 1
        accept(agentId, [id], limit)
        if (!isCancelled) continue
        cancelled.add(id)
        dispatch.cancel(id)
      }
      await allEnded.promise
      await dispatch.stop(1000)
      expect(ended.toSorted((a, b) => a - b)).toEqual(upTo(runs.length))
      expect(lines).toEqual([])
    }),
  )
})
