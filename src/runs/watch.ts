/** The one change feed: says that a run changed, never what. Whoever listens reads the row, so a lost hint costs time only. */
export interface Feed {
  changed(runId: number): void
  /** Changed for the last time. */
  ended(runId: number): void
  /** Resolves at the next change after the call; at once when the feed closes, after `ms`, or when the signal aborts. */
  nextChange(runId: number, ms: number, signal: AbortSignal): Promise<void>
  /** The same, for the end alone: nobody who waits for an answer has to look at every step. */
  nextEnd(runId: number, ms: number, signal: AbortSignal): Promise<void>
  /** Nobody waits any longer: the service is stopping. */
  close(): void
  readonly closed: boolean
}

export function createFeed(): Feed {
  const changes = createBell()
  const ends = createBell()
  let closed = false

  function waitFor(bell: Bell, runId: number, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (closed || signal.aborted) return resolve()
      const finish = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        unhook()
        resolve()
      }
      const timer = setTimeout(finish, ms)
      const unhook = bell.hook(runId, finish)
      signal.addEventListener('abort', finish)
    })
  }

  return {
    changed: changes.ring,
    ended(runId) {
      changes.ring(runId)
      ends.ring(runId)
    },
    nextChange: (runId, ms, signal) => waitFor(changes, runId, ms, signal),
    nextEnd: (runId, ms, signal) => waitFor(ends, runId, ms, signal),
    close() {
      closed = true
      changes.ringAll()
      ends.ringAll()
    },
    get closed() {
      return closed
    },
  }
}

interface Bell {
  /** Calls back at every ring for this run, until the returned function is called. */
  hook(runId: number, listener: () => void): () => void
  ring(runId: number): void
  ringAll(): void
}

function createBell(): Bell {
  const hooked = new Map<number, Set<() => void>>()
  const ring = (runId: number) => {
    for (const listener of [...(hooked.get(runId) ?? [])]) listener()
  }
  return {
    ring,
    ringAll: () => [...hooked.keys()].forEach(ring),
    hook(runId, listener) {
      const listeners = hooked.get(runId) ?? new Set()
      hooked.set(runId, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) hooked.delete(runId)
      }
    },
  }
}
