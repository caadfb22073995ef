/** Timers that end together with what they belong to, and keep no process alive. */

export interface Timers {
  /** Returns a function that takes it back. */
  later(what: () => void, ms: number): () => void
  end(): void
}

export function createTimers(): Timers {
  const running = new Set<NodeJS.Timeout>()
  return {
    later(what, ms) {
      const stop = () => {
        clearTimeout(timer)
        running.delete(timer)
      }
      const timer = setTimeout(() => {
        stop()
        what()
      }, ms).unref()
      running.add(timer)
      return stop
    },
    end() {
      for (const timer of running) clearTimeout(timer)
      running.clear()
    },
  }
}
