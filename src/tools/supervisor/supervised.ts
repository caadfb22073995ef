/**
 * One MCP server under supervision: connected when somebody wants it, its list of tools kept fresh, let go of when
 * nobody has called it for a while. A call may fail; it never waits beyond its time.
 */
import type { Clock } from '../../clock.ts'
import type { Json, ToolAnswer, ToolCallContext } from '../../contract/tool.ts'
import {
  type CallTarget,
  type Connect,
  type Connection,
  notAnsweredWithin,
  ServerFailure,
  SessionLost,
} from '../connection/connection.ts'
import type { ServerConfig } from '../servers/server-config.ts'
import type { Crowd } from './crowd.ts'
import { createLink, type LinkTiming } from './link.ts'
import type { Memory } from './memory.ts'
import { createToolLists, type ListTiming } from './tool-lists.ts'

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

/** A server that lets this many calls in a row run out of time is started anew. */
const MOST_SILENT_CALLS = 3

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
  /** Rejects with ServerFailure, within the server's timeout, or with the signal's reason. */
  call(tool: CallTarget, input: { [key: string]: Json }, context: ToolCallContext): Promise<ToolAnswer>
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
  let calls = 0
  let silentCalls = 0
  let usedAt = clock.elapsed()
  let idleTimer: NodeJS.Timeout | undefined
  let onQuiet: () => void = () => undefined

  const link = createLink({
    make,
    onGone: () => crowd.leave(self),
    report: memory.report,
    isWanted: () => calls > 0 || clock.elapsed() - usedAt < timing.idle_ms,
    clock,
    timing,
  })
  const lists = createToolLists({ heard, memory, link, clock, timing, timeout_ms: config.connect_timeout_ms })

  async function make(signal: AbortSignal): Promise<Connection> {
    await after
    await enterCrowd(signal)
    try {
      const made = await connect(config, { onToolsChanged: lists.readSoon }, signal)
      await listFirst(made, signal)
      silentCalls = 0
      restLater()
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
    const timer = setTimeout(() => late.abort(NO_ROOM), config.connect_timeout_ms)
    await crowd.enter(self, AbortSignal.any([signal, late.signal])).finally(() => clearTimeout(timer))
  }

  /** Neither idleness nor others who need room end a connection meanwhile. */
  async function inUse<Value>(work: () => Promise<Value>): Promise<Value> {
    calls += 1
    usedAt = clock.elapsed()
    clearTimeout(idleTimer)
    try {
      return await work()
    } finally {
      calls -= 1
      usedAt = clock.elapsed()
      restLater()
      if (calls === 0) {
        onQuiet()
        crowd.lookAgain()
      }
    }
  }

  function restLater(): void {
    clearTimeout(idleTimer)
    if (calls > 0) return
    idleTimer = setTimeout(() => void self.rest(), timing.idle_ms)
    idleTimer.unref()
  }

  /** A call that never reached the server is made again over another connection, once. */
  async function callOver(target: CallTarget, input: { [key: string]: Json }, context: TimedCall, again = false) {
    const connection = await link.connected(context.signal)
    link.hold(connection)
    try {
      const { key, signal } = context
      const answer = await connection.call(target, input, { key, signal, timeout_ms: context.left() })
      silentCalls = 0
      return answer
    } catch (error) {
      learnFrom(error, connection)
      if (again || !wasNeverMade(error)) throw error
      return callOver(target, input, context, true)
    } finally {
      link.release(connection)
    }
  }

  /** One call that takes too long says nothing about the others; many in a row do. */
  function learnFrom(error: unknown, connection: Connection): void {
    if (!(error instanceof ServerFailure)) return
    silentCalls = error.kind === 'timeout' ? silentCalls + 1 : 0
    if (error instanceof SessionLost) link.renew(connection)
    else if (error.kind === 'unreachable') link.drop(connection, error.message)
    else if (silentCalls >= MOST_SILENT_CALLS) {
      link.drop(connection, `the server left ${silentCalls} calls in a row without an answer`)
    }
  }

  const self: Supervised = {
    config,
    isHeard: lists.isHeard,
    isResting: () => link.current() !== undefined && calls === 0,
    isCalled: () => calls > 0,
    usedAt: () => usedAt,
    problem: link.problem,
    isWorthATry: () => link.problem() === undefined || link.isDue(),

    refresh: () =>
      inUse(async () => {
        const known = link.current()
        if (known) await lists.read(known)
        else await link.connectedNow()
      }),

    call: (tool, input, context) =>
      inUse(async () => {
        lists.readWhenOld()
        const timedCall = timed(context, config, clock)
        return callOver(tool, input, timedCall).finally(timedCall.done)
      }),

    async rest() {
      clearTimeout(idleTimer)
      if (calls === 0) await link.rest()
    },

    async retire() {
      if (calls > 0) await new Promise<void>((resolve) => (onQuiet = resolve))
      await self.close()
    },

    async close() {
      memory.close()
      clearTimeout(idleTimer)
      await link.close()
      clearTimeout(idleTimer)
    },
  }
  return self
}

const wasNeverMade = (error: unknown) =>
  error instanceof SessionLost || (error instanceof ServerFailure && error.kind === 'unreachable')

interface TimedCall extends ToolCallContext {
  /** Milliseconds until the call's time is over. */
  left(): number
  done(): void
}

/** The time of a call includes the wait for its connection. */
function timed({ key, signal }: ToolCallContext, { timeout_ms }: ServerConfig, clock: Clock): TimedCall {
  const until = clock.elapsed() + timeout_ms
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(notAnsweredWithin(timeout_ms)), timeout_ms)
  return {
    key,
    signal: AbortSignal.any([signal, late.signal]),
    left: () => Math.max(1, until - clock.elapsed()),
    done: () => clearTimeout(timer),
  }
}
