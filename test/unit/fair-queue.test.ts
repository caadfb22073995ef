// Who gets the next slot: turns between agents, order within one, limits, shares, and no trace of the idle.
import { expect, test } from 'vitest'
import { createFairQueue, type FairQueue } from '../../src/runs/local/fair-queue.ts'

const A = 1
const B = 2
const C = 3

function add(
  queue: FairQueue,
  agentId: number,
  ids: number[],
  where: 'front' | 'back' = 'back',
  limit?: number | null,
) {
  for (const id of ids) queue.add(agentId, id, where)
  queue.setLimit(agentId, limit ?? null)
}

function takeAll(queue: FairQueue): number[] {
  const ids: number[] = []
  for (let grant = queue.take(); grant; grant = queue.take()) ids.push(grant.id)
  return ids
}

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index)

test('agents take turns, each with the one that has waited longest', () => {
  const queue = createFairQueue(100)
  add(queue, A, [1, 2, 3, 4])
  add(queue, B, [5, 6])
  add(queue, C, [7])
  expect(takeAll(queue)).toEqual([1, 5, 7, 2, 6, 3, 4])
})

test('what is in front goes before the rest of its agent, in the order it came', () => {
  const queue = createFairQueue(100)
  add(queue, A, [1, 2])
  add(queue, A, [8, 9], 'front')
  expect(takeAll(queue)).toEqual([8, 9, 1, 2])
})

test('only what is in front is taken when that is asked for', () => {
  const queue = createFairQueue(4)
  add(queue, A, [1, 2])
  add(queue, B, [3, 4, 5, 6], 'front')
  expect(queue.agentsInFront()).toEqual([B])
  expect([queue.take('front'), queue.take('front')]).toMatchObject([{ id: 3 }, { id: 4 }])
  expect(takeAll(queue)).toEqual([1, 5])
})

test('no more slots are given than there are', () => {
  const queue = createFairQueue(2)
  add(queue, A, [1, 2, 3])
  expect(takeAll(queue)).toEqual([1, 2])
  queue.release(A)
  expect(takeAll(queue)).toEqual([3])
  expect(queue.waiting).toBe(0)
})

test('an agent holds no more slots than its limit, which may change at any time', () => {
  const queue = createFairQueue(10)
  add(queue, A, upTo(10), 'back', 2)
  expect(takeAll(queue)).toEqual([1, 2])
  queue.setLimit(A, 4)
  expect(takeAll(queue)).toEqual([3, 4])
  queue.setLimit(A, 1)
  for (let n = 0; n < 3; n++) queue.release(A)
  expect(takeAll(queue)).toEqual([])
  queue.release(A)
  expect(takeAll(queue)).toEqual([5])
})

test('an agent whose limit nobody has said holds one slot', () => {
  const queue = createFairQueue(10)
  for (const id of upTo(3)) queue.add(A, id, 'back')
  expect(takeAll(queue)).toEqual([1])
  queue.setLimit(A, null)
  expect(takeAll(queue)).toEqual([2, 3])
})

test('alone an agent has all slots, beside another one three quarters', () => {
  const alone = createFairQueue(8)
  add(alone, A, upTo(10))
  expect(takeAll(alone)).toHaveLength(8)

  const beside = createFairQueue(8)
  add(beside, A, upTo(6))
  takeAll(beside)
  add(beside, A, upTo(5, 10))
  add(beside, B, upTo(5, 20))
  expect(takeAll(beside)).toEqual([20, 21])
})

test('an agent that stands at its own limit keeps nobody from the slots', () => {
  const queue = createFairQueue(4)
  add(queue, B, [20, 21], 'back', 1)
  add(queue, A, upTo(5))
  expect(takeAll(queue)).toEqual([20, 1, 2, 3])
  expect(queue.isOverShare(A)).toBe(false)
})

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 3],
  [32, 24],
])('of %i slots the share is %i', (slots, share) => {
  const queue = createFairQueue(slots)
  add(queue, A, upTo(slots))
  takeAll(queue)
  add(queue, B, [100])
  for (let held = slots; held > share; held--) {
    expect(queue.isOverShare(A)).toBe(true)
    queue.release(A)
  }
  expect(queue.isOverShare(A)).toBe(false)
})

test('nobody is over its share while nobody else could start', () => {
  const queue = createFairQueue(2)
  add(queue, A, upTo(5))
  takeAll(queue)
  expect(queue.isOverShare(A)).toBe(false)
  expect(queue.isOverShare(B)).toBe(false)
})

test('ten thousand runs of one agent let the lone run of another have the next slot', () => {
  const queue = createFairQueue(32)
  add(queue, A, upTo(10_000))
  takeAll(queue)
  add(queue, B, [20_000])
  expect(queue.isOverShare(A)).toBe(true)
  queue.release(A)
  expect(queue.take()).toEqual({ agentId: B, id: 20_000 })
})

test('whoever is removed is not taken, and is told by its agent', () => {
  const queue = createFairQueue(10)
  add(queue, A, [1, 2, 3])
  add(queue, A, [4], 'front')
  expect([queue.remove(2), queue.remove(4), queue.remove(2), queue.remove(99)]).toEqual([A, A, undefined, undefined])
  expect(queue.waiting).toBe(2)
  expect(takeAll(queue)).toEqual([1, 3])
})

test('an id that was removed and comes again waits at the end', () => {
  const queue = createFairQueue(10)
  add(queue, A, [1, 2, 3])
  queue.remove(1)
  queue.add(A, 1, 'back')
  expect(takeAll(queue)).toEqual([2, 3, 1])
})

test('an id that waits already keeps its place', () => {
  const queue = createFairQueue(10)
  add(queue, A, [1, 2, 1])
  add(queue, A, [2], 'front')
  expect(queue.waiting).toBe(2)
  expect(takeAll(queue)).toEqual([1, 2])
})

test('an agent without ids, slots and begun runs is forgotten with its limit', () => {
  const queue = createFairQueue(10)
  add(queue, A, [1, 2])
  takeAll(queue)
  queue.begin(A)
  queue.release(A)
  queue.release(A)
  for (const id of [3, 4]) queue.add(A, id, 'front')
  expect(takeAll(queue), 'a begun run keeps the limit known').toEqual([3, 4])

  queue.release(A)
  queue.release(A)
  queue.end(A)
  for (const id of [5, 6]) queue.add(A, id, 'back')
  expect(takeAll(queue), 'nothing is known any more').toEqual([5])

  queue.setLimit(B, 5)
  for (const id of [7, 8]) queue.add(B, id, 'back')
  expect(takeAll(queue), 'a limit is not kept for nobody').toEqual([7])
})
