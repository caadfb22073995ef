/**
 * One MCP server under supervision: connected when somebody wants it, its list of tools kept fresh, let go of when
 * nobody has called it for a while. A call may fail; it never waits beyond its time.
 */
import type { Clock } from '../../clock.ts'
import { type Connect, type Connection, ServerFailure } from '../connection/connection.ts'
import type { ServerConfig } from '../servers/server-config.ts'
import { type Call, createCall } from './calls.ts'
import type { Crowd } from './crowd.ts'
import { createLink, type LinkTiming } from './link.ts'
import type { Memory } from './memory.ts'
import { createToolLists, type ListTiming } from './tool-lists.ts'
import { createUsage } from './usage.ts'

export interface Timing extends LinkTiming, ListTiming {
  /** Without a call for this long, a connection is closed. */
  idle_ms: number
}

export const TIMING: Timing = {
  first_ms: 1000,
  longest_ms: 60_000,
  stable_ms: 60_000,
  patience_ms: 5000,
  list_age_ms: 10 * 60_000,
  list_pause_ms: 1000,
  list_again_ms: 5000,
  idle_ms: 10 * 60_000,
}

const NO_ROOM = new ServerFailure('unreachable', 'too many tool servers are running and at work')

export interface Supervised {
  readonly config: ServerConfig
  /** Whether the tools of this very configuration are known, from now or from an earlier life. */
  isHeard(): boolean
  /** Connected, and nobody is calling. */
  isResting(): boolean
  isCalled(): boolean
  usedAt(): number
  /** Why it is not to be had at the moment. */
  problem(): string | undefined
  /** Whether it has not failed, or failed so long ago that it is to be tried again. */
  isWorthATry(): boolean
  /** Connects if need be, at once, and reads the list of tools. Rejects with ServerFailure. */
  refresh(): Promise<void>
  readonly call: Call
  /** Its failures so far no longer make the next one wait longer. */
  forgive(): void
  /** Lets go of the connection until somebody wants it again. */
  rest(): Promise<void>
  /** Closes once the calls that are under way have ended. */
  retire(): Promise<void>
  close(): Promise<void>
}

interface SupervisedParts {
  config: ServerConfig
  heard: boolean
  connect: Connect
  memory: Memory
  crowd: Crowd
  /** Nothing is connected before this. */
  after: Promise<void>
  clock: Clock
  timing: Timing
}

export function supervise(parts: SupervisedParts): Supervised {
  const { config, heard, after, connect, memory, crowd, clock, timing } = parts
  const { connect_timeout_ms, timeout_ms } = config
  const usage = createUsage({
    clock,
    idle_ms: timing.idle_ms,
    onIdle: () => void self.rest(),
    onQuiet: crowd.lookAgain,
  })
  const link = createLink({
    make,
    onGone: () => crowd.leave(self),
    report: memory.report,
    isWanted: () => usage.isInUse() || clock.elapsed() - usage.at() < timing.idle_ms,
    clock,
    timing,
  })
  const lists = createToolLists({ heard, memory, link, clock, timing, timeout_ms: connect_timeout_ms })
  const call = createCall({ link, clock, timeout_ms })

  async function make(signal: AbortSignal): Promise<Connection> {
    await after
    await enterCrowd(signal)
    try {
      const made = await connect(config, { onToolsChanged: lists.readSoon }, signal)
      await listFirst(made, signal)
      usage.startIdling()
      return made
    } catch (error) {
      crowd.leave(self)
      throw error
    }
  }

  /** A server may hang in this as in anything else, and then nobody waits for it when all is over. */
  async function listFirst(made: Connection, signal: AbortSignal): Promise<void> {
    const giveUp = () => void made.close()
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await lists.read(made)
    } catch (error) {
      await made.close()
      throw error
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  async function enterCrowd(signal: AbortSignal): Promise<void> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(NO_ROOM), connect_timeout_ms)
    await crowd.enter(self, AbortSignal.any([signal, late.signal])).finally(() => clearTimeout(timer))
  }

  const self: Supervised = {
    config,
    isHeard: lists.isHeard,
    isResting: () => link.current() !== undefined && !usage.isInUse(),
    isCalled: usage.isCalled,
    usedAt: usage.at,
    problem: link.problem,
    isWorthATry: () => link.problem() === undefined || link.isDue(),

    refresh: () =>
      usage.during(async () => {
        const known = link.current()
        if (known) await lists.read(known)
        else await link.connectedNow()
      }),

    call: (...args) =>
      usage.duringCall(() => {
        lists.readWhenOld()
        return call(...args)
      }),

    forgive: link.forgive,

    async rest() {
      usage.stopIdling()
      if (!usage.isInUse()) await link.rest()
    },

    async retire() {
      await usage.callsOver()
      await self.close()
    },

    async close() {
      memory.close()
      await link.close()
      usage.stopIdling()
    },
  }
  return self
}
