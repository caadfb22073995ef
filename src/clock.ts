/** Where time comes from, so that tests can bring their own. */
export interface Clock {
  /** Milliseconds since 1970, for what is stored and shown. */
  now(): number
  /** Milliseconds that only grow, for durations. */
  elapsed(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }
