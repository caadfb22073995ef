/** Who uses a server right now, and how long nobody has. */
import type { Clock } from '../../clock.ts'

export interface Usage {
  isInUse(): boolean
  isCalled(): boolean
  /** When it was last used, on the clock that only grows. */
  at(): number
  /** Neither idleness nor others who need room end a connection meanwhile. */
  during<Value>(work: () => Promise<Value>): Promise<Value>
  /** The same for a call, which also outlasts a change of the server. */
  duringCall<Value>(work: () => Promise<Value>): Promise<Value>
  /** Resolves when no call is under way. */
  callsOver(): Promise<void>
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
  let calls = 0
  let usedAt = clock.elapsed()
  let timer: NodeJS.Timeout | undefined
  let whenCallsAreOver: PromiseWithResolvers<void> | undefined

  const stopIdling = () => clearTimeout(timer)

  function startIdling(): void {
    stopIdling()
    if (users === 0) timer = setTimeout(onIdle, idle_ms).unref()
  }

  async function during<Value>(work: () => Promise<Value>): Promise<Value> {
    users += 1
    usedAt = clock.elapsed()
    stopIdling()
    try {
      return await work()
    } finally {
      users -= 1
      usedAt = clock.elapsed()
      startIdling()
      if (users === 0) onQuiet()
    }
  }

  async function duringCall<Value>(work: () => Promise<Value>): Promise<Value> {
    calls += 1
    try {
      return await during(work)
    } finally {
      calls -= 1
      if (calls === 0) whenCallsAreOver?.resolve()
    }
  }

  return {
    isInUse: () => users > 0,
    isCalled: () => calls > 0,
    during,
    duringCall,
    at: () => usedAt,
    startIdling,
    stopIdling,

    async callsOver() {
      if (calls === 0) return
      whenCallsAreOver ??= Promise.withResolvers()
      await whenCallsAreOver.promise
    },
  }
}
