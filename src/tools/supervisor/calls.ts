/** Calls over a link: each within its time, and what their failures tell about the connection. */
import type { Clock } from '../../clock.ts'
import type { Json, ToolAnswer, ToolCallContext } from '../../contract/tool.ts'
import {
  type CallTarget,
  type Connection,
  notAnsweredWithin,
  ServerFailure,
  SessionLost,
} from '../connection/connection.ts'
import type { Link } from './link.ts'

/** A server that lets this many calls in a row run out of time is started anew. */
const MOST_SILENT = 3

/** Rejects with ServerFailure, within the timeout, or with the signal's reason. */
export type Call = (tool: CallTarget, input: Input, context: ToolCallContext) => Promise<ToolAnswer>

type Input = { [key: string]: Json }

interface CallsParts {
  link: Link
  clock: Clock
  timeout_ms: number
}

export function createCall({ link, clock, timeout_ms }: CallsParts): Call {
  /** Calls in a row without an answer, and the connection they were made over. */
  let silent: { over: Connection; count: number } | undefined

  /** A call that never reached the server is made again over another connection, once. */
  async function make(tool: CallTarget, input: Input, call: TimedCall, again: boolean): Promise<ToolAnswer> {
    const connection = await link.connected(call.signal)
    link.hold(connection)
    try {
      const { key, signal } = call
      const answer = await connection.call(tool, input, { key, signal, timeout_ms: call.left() })
      silent = undefined
      return answer
    } catch (error) {
      if (error instanceof ServerFailure) learnFrom(error, connection)
      if (again || !wasNeverMade(error)) throw error
      return make(tool, input, call, true)
    } finally {
      link.release(connection)
    }
  }

  function learnFrom(failure: ServerFailure, connection: Connection): void {
    if (failure.kind !== 'timeout') silent = undefined
    if (failure.kind === 'timeout') noteSilence(connection)
    else if (failure instanceof SessionLost) link.renew(connection)
    else if (failure.kind === 'unreachable') link.drop(connection, failure.message)
  }

  /** One call that takes too long says nothing about the others; many in a row do. */
  function noteSilence(connection: Connection): void {
    silent = { over: connection, count: silent?.over === connection ? silent.count + 1 : 1 }
    if (silent.count < MOST_SILENT) return
    link.drop(connection, `the server left ${silent.count} calls in a row without an answer`)
  }

  return async (tool, input, context) => {
    const call = timed(context, timeout_ms, clock)
    return make(tool, input, call, false).finally(call.done)
  }
}

const wasNeverMade = (error: unknown) =>
  error instanceof SessionLost || (error instanceof ServerFailure && error.kind === 'unreachable')

interface TimedCall extends ToolCallContext {
  /** Milliseconds until the call's time is over. */
  left(): number
  done(): void
}

/** The time of a call includes the wait for its connection. */
function timed({ key, signal }: ToolCallContext, timeout_ms: number, clock: Clock): TimedCall {
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
