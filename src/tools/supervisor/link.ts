/**
 * The one connection to a server that everybody shares: made by the first who wants it while the others wait for the
 * same, made again with growing pauses after a failure, and given up when nobody wants it any more.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { ServerStatus } from '../../contract/mcp-server.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import { type Connection, ServerFailure } from '../connection/connection.ts'
import { createRestarts, type RestartTiming } from './restarts.ts'

export interface LinkTiming extends RestartTiming {
  /** Who wants a connection waits this long for the next attempt; when it is further off, they are told so at once. */
  patience_ms: number
}

export interface Link {
  current(): Connection | undefined
  /** Rejects with ServerFailure, or with the signal's reason. */
  connected(signal: AbortSignal): Promise<Connection>
  /** The same without a pause, however often it has failed. */
  connectedNow(): Promise<Connection>
  /** Why there is no connection. */
  problem(): string | undefined
  /** Whether asking for a connection would begin an attempt, or join one that is due. */
  isDue(): boolean
  /** It is of no use any more, because of a failure. */
  drop(connection: Connection, reason: string): void
  /** No more calls over it, and a new one will do; those that are under way may end. */
  renew(connection: Connection): void
  /** A call is under way over it. */
  hold(connection: Connection): void
  release(connection: Connection): void
  /** The next failure counts as the first. */
  forgive(): void
  /** Until somebody wants a connection again. */
  rest(): Promise<void>
  /** For good. Resolves when nothing is left of any connection. */
  close(): Promise<void>
}

export interface LinkParts {
  /** Rejects with ServerFailure, leaving nothing behind. */
  make(signal: AbortSignal): Promise<Connection>
  /** Nothing of what `make` made is left. */
  onGone(): void
  report(status: ServerStatus, error: string | null): Promise<void>
  /** After a failure: whether to try again without being asked. */
  isWanted(): boolean
  clock: Clock
  timing: LinkTiming
}

/** A connection on its way, perhaps still waiting for its time. */
interface Attempt {
  due: number
  hurry: AbortController
  made: Promise<Connection>
}

export function createLink({ make, onGone, report, isWanted, clock, timing }: LinkParts): Link {
  const over = new AbortController()
  const restarts = createRestarts(timing)
  const closings = new Set<Promise<void>>()
  const held = new Map<Connection, number>()
  /** No longer in use, but for calls that have begun over them. */
  const aside = new Set<Connection>()
  let current: Connection | undefined
  let attempt: Attempt | undefined
  let problem: string | undefined

  function begin(wait: number): Attempt {
    const hurry = new AbortController()
    const until = AbortSignal.any([hurry.signal, over.signal])
    const due = delay(wait, undefined, { ref: false, signal: until }).catch(() => undefined)
    const mine: Attempt = { due: clock.elapsed() + wait, hurry, made: due.then(connect) }
    attempt = mine
    mine.made.catch((error: Error) => {
      // Here and not earlier: in between, somebody else would begin another one.
      attempt = undefined
      failed(error.message)
    })
    return mine
  }

  async function connect(): Promise<Connection> {
    // Two processes of one server may get into each other's way.
    await Promise.all(closings)
    refuseWhenOver()
    void report('connecting', problem ?? null)
    const made = await make(over.signal)
    if (over.signal.aborted) await letGo(made)
    refuseWhenOver()
    void made.lost.then((reason) => drop(made, reason))
    restarts.connected(clock.elapsed())
    problem = undefined
    attempt = undefined
    current = made
    return made
  }

  function failed(reason: string): void {
    if (over.signal.aborted) return
    problem = reason
    const wait = restarts.failed(clock.elapsed())
    void report('down', reason)
    if (isWanted()) begin(wait)
  }

  /** Whoever asks next gets another one. */
  function part(connection: Connection): boolean {
    if (current !== connection) return false
    current = undefined
    void letGo(connection)
    return true
  }

  function drop(connection: Connection, reason: string): void {
    if (part(connection)) failed(reason)
  }

  function letGo(connection: Connection): Promise<void> {
    const done = connection
      .close()
      .catch(() => undefined)
      .then(() => {
        closings.delete(done)
        if (closings.size + aside.size === 0 && !current) onGone()
      })
    closings.add(done)
    return done
  }

  function refuseWhenOver(): void {
    if (over.signal.aborted) throw new ServerFailure('unreachable', 'the server is not used any more')
  }

  return {
    current: () => current,
    problem: () => (current ? undefined : problem),
    isDue: () => (attempt ? attempt.due <= clock.elapsed() : restarts.left(clock.elapsed()) === 0),
    drop,
    forgive: restarts.forgive,

    async connected(signal) {
      refuseWhenOver()
      if (current) return current
      const next = attempt ?? begin(restarts.left(clock.elapsed()))
      const wait = next.due - clock.elapsed()
      if (wait > timing.patience_ms) {
        const seconds = Math.ceil(wait / 1000)
        throw new ServerFailure('unreachable', `the server is down and is tried again in ${seconds} s: ${problem}`)
      }
      return unlessAborted(signal, next.made)
    },

    async connectedNow() {
      refuseWhenOver()
      if (current) return current
      const next = attempt ?? begin(0)
      next.hurry.abort()
      return next.made
    },

    renew(connection) {
      if (current !== connection) return
      current = undefined
      if (held.has(connection)) aside.add(connection)
      else void letGo(connection)
      begin(0)
    },

    hold: (connection) => void held.set(connection, (held.get(connection) ?? 0) + 1),

    release(connection) {
      const left = (held.get(connection) ?? 1) - 1
      if (left > 0) held.set(connection, left)
      else held.delete(connection)
      if (left === 0 && aside.delete(connection)) void letGo(connection)
    },

    async rest() {
      if (!current) return
      const connection = current
      current = undefined
      await Promise.all([report('idle', null), letGo(connection)])
    },

    async close() {
      over.abort()
      if (current) part(current)
      for (const connection of aside) void letGo(connection)
      aside.clear()
      await attempt?.made.catch(() => undefined)
      await Promise.all(closings)
    },
  }
}
