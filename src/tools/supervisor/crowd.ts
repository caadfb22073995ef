/** How many tool servers run as processes at once: when there are too many, the one that was not used for longest goes. */
import { ServerFailure } from '../connection/connection.ts'
import type { Supervised } from './supervised.ts'

export interface Crowd {
  /** Throws ServerFailure when every process is at work. */
  enter(server: Supervised): void
  leave(server: Supervised): void
}

export function createCrowd(most: number): Crowd {
  const running = new Set<Supervised>()

  function makeRoom(): void {
    const resting = [...running].filter((server) => server.isResting())
    const [longest] = resting.sort((one, other) => one.usedAt() - other.usedAt())
    if (!longest) {
      throw new ServerFailure(
        'unreachable',
        `${most} tool servers are running and at work; no more than that are started`,
      )
    }
    running.delete(longest)
    void longest.rest()
  }

  return {
    enter(server) {
      if (server.config.target.kind !== 'stdio') return
      if (running.size >= most) makeRoom()
      running.add(server)
    },
    leave: (server) => void running.delete(server),
  }
}
