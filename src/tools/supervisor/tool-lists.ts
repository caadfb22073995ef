/** Keeps what is known of a server's tools fresh: read at every connection, when the server says so, and when it is old. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Connection } from '../connection/connection.ts'
import type { Link } from './link.ts'
import type { Memory } from './memory.ts'

export interface ListTiming {
  /** How old the list of a connected server may grow. */
  list_age_ms: number
  /** Lists are not read more often than this, however often a server says that they have changed. */
  list_pause_ms: number
  /** When to read one again that could not be stored. */
  list_again_ms: number
}

export interface ToolLists {
  isHeard(): boolean
  read(connection: Connection): Promise<void>
  readSoon(): void
  readWhenOld(): void
}

interface ToolListsParts {
  heard: boolean
  memory: Memory
  link: Pick<Link, 'current'>
  clock: Clock
  timing: ListTiming
  timeout_ms: number
}

export function createToolLists({ heard, memory, link, clock, timing, timeout_ms }: ToolListsParts): ToolLists {
  let isHeard = heard
  let readAt = 0
  let isPlanned = false

  async function read(connection: Connection): Promise<void> {
    readAt = clock.elapsed()
    const list = await connection.list({ timeout_ms })
    // A database that cannot be written now does not make the connection worse.
    const isKept = await memory.remember(list)
    await memory.report('up', list.complaint)
    if (isKept) isHeard = true
    else readSoon(timing.list_again_ms)
  }

  /** The last good list stays when the new one cannot be read. */
  async function readAgain(connection: Connection): Promise<void> {
    try {
      await read(connection)
    } catch (error) {
      const { message } = error as Error
      if (link.current() === connection) await memory.report('up', `its tools could not be listed again: ${message}`)
    }
  }

  function readSoon(pause = timing.list_pause_ms): void {
    if (isPlanned) return
    isPlanned = true
    const wait = Math.max(0, readAt + pause - clock.elapsed())
    void delay(wait, undefined, { ref: false }).then(() => {
      isPlanned = false
      const connection = link.current()
      if (connection) void readAgain(connection)
    })
  }

  return {
    isHeard: () => isHeard,
    read,
    readSoon: () => readSoon(),
    readWhenOld() {
      if (link.current() && clock.elapsed() - readAt > timing.list_age_ms) readSoon()
    },
  }
}
