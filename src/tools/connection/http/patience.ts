/** When a stream that was cut off is opened again. A server has a say in it, but cannot keep us busy. */

const SOONEST_MS = 100
const LATEST_MS = 60_000
/** A server that cuts its streams off more often than this has to wait longer. */
const MOST_IN_A_MINUTE = 60
const LONGER_MS = 10_000
const MINUTE_MS = 60_000

/** Returns a function that says how long to wait, given how long the server wants us to. */
export function createPatience(): (wishMs: number) => number {
  let minute = 0
  let count = 0
  return (wishMs) => {
    const now = Math.floor(performance.now() / MINUTE_MS)
    count = now === minute ? count + 1 : 1
    minute = now
    const least = count > MOST_IN_A_MINUTE ? LONGER_MS : SOONEST_MS
    return Math.min(Math.max(wishMs, least), LATEST_MS)
  }
}
