/** Who uses a server right now, and how long nobody has. */
import type { Clock } from '../../clock.ts'

export interface Usage {
  isInUse(): boolean
  /** When it was last used, on the clock that only grows. */
  at(): number
  /** Neither idleness nor others who need room end a connection meanwhile. */
  during<Value>(work: () => Promise<Value>): Promise<Value>
  /** Resolves when nobody uses it. */
  quiet(): Promise<void>
  /** Begins to count the idle time. */
  startIdling(): void
  stopIdling(): void
}

interface UsageParts {
  clock: Clock
  idle_ms: number
  onIdle(): void
  /** The last one has ended. */
  onQuiet(): void
}

export function createUsage({ clock, idle_ms, onIdle, onQuiet }: UsageParts): Usage {
  let users = 0
  let usedAt = clock.elapsed()
  let timer: NodeJS.Timeout | undefined
  let whenQuiet: PromiseWithResolvers<void> | undefined

  const stopIdling = () => clearTimeout(timer)

  function startIdling(): void {
    stopIdling()
    if (users === 0) timer = setTimeout(onIdle, idle_ms).unref()
  }

  function settleDown(): void {
    startIdling()
    if (users > 0) return
    whenQuiet?.resolve()
    whenQuiet = undefined
    onQuiet()
  }

  return {
    isInUse: () => users > 0,
    at: () => usedAt,
    startIdling,
    stopIdling,

    async during(work) {
      users += 1
      usedAt = clock.elapsed()
      stopIdling()
      try {
        return await work()
      } finally {
        users -= 1
        usedAt = clock.elapsed()
        settleDown()
      }
    },

    async quiet() {
      if (users === 0) return
      whenQuiet ??= Promise.withResolvers()
      await whenQuiet.promise
    },
  }
}
