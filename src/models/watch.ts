/** Watches over one attempt: a provider that falls silent, floods, or talks without end is given up. */
import { Trouble } from './trouble.ts'

export interface Patience {
  /** Longest silence before the first piece of the answer. */
  first_ms: number
  /** Longest silence within the answer. */
  idle_ms: number
}

export const USUAL_PATIENCE: Patience = { first_ms: 120_000, idle_ms: 60_000 }

const MAX_OUTPUT = 4 * 1024 * 1024
const MAX_UNREADABLE_BYTES = 64 * 1024 * 1024

export interface Watch {
  /** Bytes came over the wire, of whatever meaning: providers that think for long send comments and pings. */
  heard(bytes: number): void
  /** A piece of the answer came, with so many characters of output. */
  understood(characters: number): void
  end(): void
}

export function createWatch({ first_ms, idle_ms }: Patience, giveUp: (trouble: Trouble) => void): Watch {
  let output = 0
  let unreadable = 0
  let ended = false
  const silent = (what: string) => () => giveUp(new Trouble(what, { again: true, advice: 'try again later' }))
  let timer = setTimeout(silent(`did not answer within ${first_ms / 1000} s`), first_ms)

  function begin(): void {
    clearTimeout(timer)
    timer = setTimeout(silent(`fell silent for ${idle_ms / 1000} s in the middle of its answer`), idle_ms)
  }

  // What still trickles in after the end must not wind up the timer again.
  return {
    heard(bytes) {
      if (ended) return
      timer.refresh()
      unreadable += bytes
      if (unreadable > MAX_UNREADABLE_BYTES) giveUp(new Trouble('sent data that is no answer', { again: true }))
    },
    understood(characters) {
      if (ended) return
      if (characters > 0) unreadable = 0
      if (output === 0 && characters > 0) begin()
      output += characters
      if (output > MAX_OUTPUT) giveUp(new Trouble('answered with more than 4 MiB of text', { again: false }))
    },
    end() {
      ended = true
      clearTimeout(timer)
    },
  }
}
