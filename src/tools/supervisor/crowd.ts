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

  function sendSomebodyAway(): void {
    const resting = [...running].filter((server) => server.isResting())
    const [longest] = resting.sort((one, other) => one.usedAt() - other.usedAt())
    void longest?.rest()
  }

  async function enter(server: Member, signal: AbortSignal): Promise<void> {
    if (server.config.target.kind !== 'stdio') return
    while (running.size >= most && !running.has(server)) {
      sendSomebodyAway()
      const room = Promise.withResolvers<void>()
      waiting.add(room.resolve)
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
      if (running.delete(server)) lookAgain()
    },
    lookAgain,
  }
}
