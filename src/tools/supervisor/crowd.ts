/** How many tool servers run as processes at once: when there are too many, the one that was not used for longest goes. */
import { unlessAborted } from '../../unless-aborted.ts'
import type { ServerConfig } from '../servers/server-config.ts'

/** What the crowd needs to know of a server. */
export interface Member {
  readonly config: ServerConfig
  /** Connected, and nobody is calling. */
  isResting(): boolean
  usedAt(): number
  rest(): Promise<void>
}

export interface Crowd {
  /** Resolves once there is room for its process, or rejects with the signal's reason. */
  enter(server: Member, signal: AbortSignal): Promise<void>
  /** Its process is gone. */
  leave(server: Member): void
  /** Somebody has become idle, and may make room for another. */
  lookAgain(): void
}

export function createCrowd(most: number): Crowd {
  const running = new Set<Member>()
  const waiting = new Set<() => void>()
  const leaving = new Set<Member>()

  /** One for each who waits: those that are on their way out already count. */
  function sendAway(): void {
    const resting = [...running].filter((server) => server.isResting())
    const longest = resting.sort((one, other) => one.usedAt() - other.usedAt())
    for (const server of longest.slice(0, Math.max(0, waiting.size - leaving.size))) {
      leaving.add(server)
      void server.rest()
    }
  }

  async function enter(server: Member, signal: AbortSignal): Promise<void> {
    if (server.config.target.kind !== 'stdio') return
    while (running.size >= most && !running.has(server)) {
      const room = Promise.withResolvers<void>()
      waiting.add(room.resolve)
      sendAway()
      await unlessAborted(signal, room.promise).finally(() => waiting.delete(room.resolve))
    }
    running.add(server)
  }

  function lookAgain(): void {
    for (const wake of waiting) wake()
  }

  return {
    enter,
    leave(server) {
      leaving.delete(server)
      if (running.delete(server)) lookAgain()
    },
    lookAgain,
  }
}
