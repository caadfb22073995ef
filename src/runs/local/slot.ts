/** The slot of one run in execution: held, given back for a while, waited for at the front of its agent's queue. */
import type { FairQueue } from './fair-queue.ts'

export interface Slot {
  isHeld(): boolean
  /** The queue has granted it. */
  arrive(): void
  giveBack(): void
  /** Resolves with the slot in hand; without it when nobody is to wait for it any more. */
  regain(): Promise<void>
  /** Whoever waits for the slot goes on without it. */
  stopWaiting(): void
  /** Gives the slot back for as long as the work takes. */
  without<Value>(work: () => Promise<Value>): Promise<Value>
}

interface SlotParts {
  queue: FairQueue
  /** Slots or limits have changed: somebody may start. */
  pump: () => void
  run: { id: number; agentId: number }
  isHeld: boolean
  /** False once the run is to end: it does that without a slot. */
  mayWait: () => boolean
}

export function createSlot({ queue, pump, run, isHeld, mayWait }: SlotParts): Slot {
  let arrival: PromiseWithResolvers<void> | undefined
  /** Works that are under way without the slot. */
  let away = 0
  let isEnding = false

  function arrived() {
    arrival?.resolve()
    arrival = undefined
  }

  function giveBack() {
    if (!isHeld) return
    isHeld = false
    queue.release(run.agentId)
    pump()
  }

  function stopWaiting() {
    if (!arrival) return
    queue.remove(run.id)
    arrived()
  }

  async function regain(): Promise<void> {
    // With a slot in hand while one of its works still waits for another run, the two could wait for each other.
    if (isHeld || away > 0 || !mayWait()) return
    arrival ??= Promise.withResolvers()
    const { promise } = arrival
    queue.add(run.agentId, run.id, 'front')
    pump()
    await promise
  }

  return {
    isHeld: () => isHeld,
    giveBack,
    regain,
    stopWaiting,
    arrive() {
      isHeld = true
      arrived()
    },
    async without(work) {
      away += 1
      isEnding = false
      stopWaiting()
      giveBack()
      try {
        return await work()
      } catch (error) {
        // It has nothing left to do but to end, and needs no slot for that.
        isEnding = true
        throw error
      } finally {
        away -= 1
        if (!isEnding) await regain()
      }
    },
  }
}
