// Which run this process executes, and when: what is accepted, left behind, not told about, cancelled, and the stop.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RunAborted } from '../../src/runs/dispatch.ts'
import { openHouse, quiet, row, stateOf, upTo } from './dispatch-house.ts'

const A = 1
const B = 2
const SWEEP_MS = 5000
const RETRY_MS = 1000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('an accepted run', () => {
  test('executes in the same tick when there is a slot', async () => {
    const { dispatch, accept, begun } = openHouse({ slots: 2 })
    await dispatch.start()
    accept(A, [1, 2, 3])
    expect(begun).toEqual([1, 2])
  })

  test('executes as soon as another one ends', async () => {
    const { dispatch, accept, begun, finish } = openHouse()
    await dispatch.start()
    accept(A, [1, 2])
    await finish(1)
    expect(begun).toEqual([1, 2])
  })

  test('waits for a slot of its agent when the agent has a limit', async () => {
    const { dispatch, accept, begun, finish } = openHouse({ slots: 10 })
    await dispatch.start()
    accept(A, [1, 2, 3], 2)
    accept(B, [4])
    expect(begun).toEqual([1, 2, 4])
    await finish(2)
    expect(begun).toEqual([1, 2, 4, 3])
  })

  test('that came before the start executes once, after it', async () => {
    const { dispatch, accept, begun } = openHouse({ slots: 5, rows: [row(1, A)] })
    accept(A, [1])
    expect(begun).toEqual([])
    await dispatch.start()
    expect(begun).toEqual([1])
  })
})

describe('a place in the queue', () => {
  test('is counted from the reservation on, and no longer once the run executes', async () => {
    const { dispatch, accept, finish } = openHouse({ maxQueued: 2 })
    await dispatch.start()
    accept(A, [1])
    const place = dispatch.reserve()
    accept(A, [2])
    expect(dispatch.reserve()).toBeUndefined()
    await finish(1)
    place?.fill({ id: 3, agent_id: A, max_concurrency: null })
    expect(dispatch.reserve()).toBeDefined()
    expect(dispatch.reserve()).toBeUndefined()
  })

  test('is not needed for what finds a free slot', async () => {
    const { dispatch } = openHouse({ slots: 2, maxQueued: 1 })
    await dispatch.start()
    expect([dispatch.reserve(), dispatch.reserve(), dispatch.reserve()].every(Boolean)).toBe(true)
    expect(dispatch.reserve()).toBeUndefined()
  })

  test('is given back once, however often it is said', async () => {
    const { dispatch, accept } = openHouse({ maxQueued: 1 })
    await dispatch.start()
    accept(A, [1])
    const place = dispatch.reserve()
    place?.give_back()
    place?.give_back()
    expect(dispatch.reserve()).toBeDefined()
    expect(dispatch.reserve()).toBeUndefined()
  })
})

describe('the start', () => {
  test('marks what was interrupted, then reads what waits page by page', async () => {
    const { dispatch, asked, begun } = openHouse({ rows: upTo(2500).map((id) => row(id, A)) })
    await dispatch.start()
    expect(asked).toEqual(['markInterrupted', 0, 1000, 2000])
    expect(begun).toEqual([1])
  })

  test('gives every interrupted run a slot before any that was queued', async () => {
    const rows = [row(1, A), row(2, B), row(3, B, true), row(4, A), row(5, B, true), row(6, B, true), row(7, B, true)]
    const { dispatch, begun } = openHouse({ slots: 4, rows })
    await dispatch.start()
    expect(begun).toEqual([3, 5, 6, 7])
  })

  test('keeps to the limits of agents whose runs were interrupted', async () => {
    const rows = upTo(5).map((id) => row(id, A, true))
    const { dispatch, begun } = openHouse({ slots: 10, rows, limits: { [A]: 2 } })
    await dispatch.start()
    expect(begun).toEqual([1, 2])
  })

  test('executes one run of an agent until its limit is learnt', async () => {
    const { dispatch, begun, control } = openHouse({
      slots: 20,
      rows: [...upTo(6)].map((id) => row(id, id < 4 ? A : B)),
    })
    await dispatch.start()
    expect(begun).toEqual([1, 4])
    control(1).learnLimit(2)
    expect(begun).toEqual([1, 4, 2])
    control(4).learnLimit(null)
    expect(begun).toEqual([1, 4, 2, 5, 6])
  })

  test('that fails rejects, and may be tried again', async () => {
    const { dispatch, begun, outage } = openHouse({ rows: [row(1, A)] })
    outage.now = true
    await expect(dispatch.start()).rejects.toThrow('the disk is gone')
    outage.now = false
    await dispatch.start()
    expect(begun).toEqual([1])
  })
})

describe('the sweep', () => {
  test('finds a run that nobody told about, and none twice', async () => {
    const { dispatch, accept, rows, begun, finish } = openHouse({ slots: 2, rows: [row(1, A)] })
    await dispatch.start()
    accept(B, [2, 3])
    rows.push(row(2, B), row(3, B), row(4, A))
    await vi.advanceTimersByTimeAsync(SWEEP_MS)
    for (const id of [1, 2, 3, 4]) await finish(id)
    expect(begun.toSorted()).toEqual([1, 2, 3, 4])
  })

  test('reads only what it has not read yet', async () => {
    const { dispatch, rows, asked } = openHouse({ rows: [row(1, A), row(2, A)] })
    await dispatch.start()
    rows.push(row(7, A))
    await vi.advanceTimersByTimeAsync(2 * SWEEP_MS)
    expect(asked).toEqual(['markInterrupted', 0, 2, 7])
  })

  test('that cannot read is repeated, and mentioned only to whoever looks closely', async () => {
    const { dispatch, rows, begun, outage, lines } = openHouse()
    await dispatch.start()
    rows.push(row(1, A))
    outage.now = true
    await vi.advanceTimersByTimeAsync(SWEEP_MS)
    expect(lines).toMatchObject([{ level: 20 }])
    outage.now = false
    await vi.advanceTimersByTimeAsync(SWEEP_MS)
    expect(begun).toEqual([1])
  })
})

describe('a cancelled run', () => {
  test('is aborted with the reason when it executes', async () => {
    const { dispatch, accept, control } = openHouse()
    await dispatch.start()
    accept(A, [1])
    dispatch.cancel(1)
    expect(control(1).signal.reason).toEqual(new RunAborted('cancelled'))
  })

  test('that waits is executed at once, beside a full house, and takes no slot', async () => {
    const { dispatch, accept, begun, finish, control } = openHouse()
    await dispatch.start()
    accept(A, [1, 2, 3])
    dispatch.cancel(3)
    expect(begun).toEqual([1, 3])
    expect(control(3).signal.aborted).toBe(false)
    await finish(3)
    expect(begun).toEqual([1, 3])
    await finish(1)
    expect(begun).toEqual([1, 3, 2])
  })

  test('that nobody has in hand is taken up to be ended, without a slot', async () => {
    const { dispatch, accept, begun } = openHouse()
    await dispatch.start()
    accept(A, [1])
    dispatch.cancel(99)
    expect(begun).toEqual([1, 99])
  })
})

describe('an execution that fails', () => {
  test('is logged and tried again a second later, and others use its slot meanwhile', async () => {
    const { dispatch, accept, begun, fail, finish, lines } = openHouse()
    await dispatch.start()
    accept(A, [1, 2, 3])
    await fail(1)
    expect(lines).toMatchObject([{ level: 50, run_id: 1 }])
    expect(begun).toEqual([1, 2])
    await vi.advanceTimersByTimeAsync(RETRY_MS)
    await finish(2)
    expect(begun).toEqual([1, 2, 1])
  })

  test('is tried again five times at most', async () => {
    const { dispatch, accept, begun, fail, lines } = openHouse()
    await dispatch.start()
    accept(A, [1])
    for (let n = 0; n < 6; n++) {
      await fail(1)
      await vi.advanceTimersByTimeAsync(RETRY_MS)
    }
    expect(begun).toEqual([1, 1, 1, 1, 1, 1])
    expect(lines.at(-1)).toMatchObject({ level: 50, run_id: 1, msg: expect.stringContaining('next start') })
    accept(A, [2])
    expect(begun.at(-1)).toBe(2)
  })

  test('is tried again at once when it is cancelled, with a signal of its own', async () => {
    const { dispatch, accept, begun, fail, control } = openHouse()
    await dispatch.start()
    accept(A, [1, 2])
    await fail(1)
    dispatch.cancel(1)
    await quiet()
    expect(begun).toEqual([1, 2, 1])
    expect(control(1).signal.aborted).toBe(false)
  })

  test('may also throw', async () => {
    const execute = vi.fn(() => {
      throw new Error('a bug')
    })
    const { dispatch, accept } = openHouse({ execute })
    await dispatch.start()
    accept(A, [1])
    await vi.advanceTimersByTimeAsync(10 * RETRY_MS)
    expect(execute).toHaveBeenCalledTimes(6)
  })
})

describe('the stop', () => {
  test('starts nothing more, says so, and resolves when the last execution has ended', async () => {
    const { dispatch, accept, begun, finish, control, asked } = openHouse({ slots: 2 })
    await dispatch.start()
    accept(A, [1, 2, 3])
    expect(control(1).stopping()).toBe(false)
    const stopped = dispatch.stop(10_000)
    expect(control(1).stopping()).toBe(true)
    accept(A, [4])
    dispatch.cancel(3)
    await finish(1)
    expect(await stateOf(stopped)).toBe('pending')
    await finish(2)
    expect(await stateOf(stopped)).toEqual({ value: undefined })
    await vi.advanceTimersByTimeAsync(2 * SWEEP_MS)
    expect(begun).toEqual([1, 2])
    expect(asked).toEqual(['markInterrupted', 0])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('aborts what still executes when the time is up', async () => {
    const { dispatch, accept, control, finish } = openHouse()
    await dispatch.start()
    accept(A, [1])
    const stopped = dispatch.stop(3000)
    await vi.advanceTimersByTimeAsync(2999)
    expect(control(1).signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(control(1).signal.reason).toEqual(new RunAborted('stopped'))
    await finish(1)
    await stopped
  })

  test('leaves behind what ignores its signal, and names it', async () => {
    const { dispatch, accept, lines } = openHouse()
    await dispatch.start()
    accept(A, [1])
    const stopped = dispatch.stop(0)
    await vi.advanceTimersByTimeAsync(1000)
    await stopped
    expect(lines).toMatchObject([{ level: 40, run_ids: [1] }])
  })

  test('is over at once when nothing executes, and may be asked for again', async () => {
    const { dispatch } = openHouse()
    await dispatch.start()
    await Promise.all([dispatch.stop(10_000), dispatch.stop(0)])
    await dispatch.stop(10_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not try again what failed', async () => {
    const { dispatch, accept, begun, fail } = openHouse({ slots: 2 })
    await dispatch.start()
    accept(A, [1, 2])
    await fail(1)
    const stopped = dispatch.stop(10_000)
    await fail(2)
    await stopped
    expect(begun).toEqual([1, 2])
  })

  test('before the start keeps it from executing anything', async () => {
    const { dispatch, begun } = openHouse({ rows: [row(1, A)] })
    await dispatch.stop(0)
    await dispatch.start()
    expect(begun).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
