/** When a server that failed is tried again: after 1 s, doubling to 60 s, never quite at the same moment as others. */

export interface RestartTiming {
  first_ms: number
  longest_ms: number
  /** A connection that lasted this long was no failure, and the next one starts from the beginning. */
  stable_ms: number
}

export interface Restarts {
  connected(at: number): void
  /** Returns how long to wait before the next attempt. */
  failed(at: number): number
  forgive(): void
  /** How long it still is until the next attempt is due. */
  left(at: number): number
}

export function createRestarts({ first_ms, longest_ms, stable_ms }: RestartTiming, random = Math.random): Restarts {
  let failures = 0
  let connectedAt: number | undefined
  let due = 0

  return {
    connected(at) {
      connectedAt = at
      due = 0
    },
    failed(at) {
      const wasStable = connectedAt !== undefined && at - connectedAt >= stable_ms
      failures = wasStable ? 1 : failures + 1
      connectedAt = undefined
      const wait = Math.min(longest_ms, first_ms * 2 ** Math.min(failures - 1, 30)) * (0.75 + 0.25 * random())
      due = at + wait
      return wait
    },
    forgive() {
      failures = 0
    },
    left: (at) => Math.max(0, due - at),
  }
}
