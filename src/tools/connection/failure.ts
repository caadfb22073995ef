/** Whatever went wrong with a server, as one of the few kinds of failure, in words for people and models. */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client'
import { notAnsweredWithin, notConnectedWithin, ServerFailure, SessionLost } from './connection.ts'
import { accessDenied, httpFailure, sessionLost } from './http/http-failure.ts'
import { networkFailure } from './http/network-failure.ts'
import type { Phase } from './phase.ts'
import { maskedLine } from './stdio/last-words.ts'

export interface FailureContext {
  phase: Phase
  /** Whether the server keeps a session with us, which it may forget. */
  has_session: boolean
  mask(text: string): string
  /** Why the connection is gone, when it is. */
  reason?: string | undefined
  timeout_ms: number
}

const LONGEST = 2_000
const SESSION_NOT_FOUND = -32_001

/** How the SDK says that a server asks for input instead of answering. */
const ASKS_BACK: ReadonlySet<string> = new Set([
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.InputRequiredRoundsExceeded,
])

export function toFailure(error: unknown, context: FailureContext): ServerFailure {
  const failure = classify(error, context)
  if (failure instanceof SessionLost) return failure
  return new ServerFailure(failure.kind, maskedLine(failure.message, context.mask).slice(0, LONGEST))
}

function classify(error: unknown, context: FailureContext): ServerFailure {
  if (error instanceof ServerFailure) return error
  if (error instanceof ProtocolError) return ofProtocol(error, context)
  if (error instanceof SdkHttpError) return httpFailure(error, context)
  if (error instanceof InsufficientScopeError) return accessDenied()
  if (error instanceof SdkError) return ofSdk(error, context)
  if (error instanceof Error && error.message === 'Not connected') return gone(context)
  return ofOther(error, context)
}

function ofProtocol({ code, message, data }: ProtocolError, { has_session }: FailureContext): ServerFailure {
  if (data instanceof ServerFailure) return data
  if (has_session && code === SESSION_NOT_FOUND && /^session not found\.?$/i.test(message)) return sessionLost()
  return new ServerFailure('refused', `the server answered with error ${code}: ${message}`)
}

function ofSdk(error: SdkError, context: FailureContext): ServerFailure {
  const { code, cause, message } = error
  if (code === SdkErrorCode.RequestTimeout) return timedOut(context)
  if (code === SdkErrorCode.ConnectionClosed || code === SdkErrorCode.NotConnected) return gone(context)
  if (code === SdkErrorCode.EraNegotiationFailed && cause) return classify(cause, context)
  if (ASKS_BACK.has(code))
    return new ServerFailure('refused', 'the server wants to ask a person something, which is not possible here')
  return rubbish(message)
}

function ofOther(error: unknown, context: FailureContext): ServerFailure {
  const network = networkFailure(error, context.phase)
  if (network) return network
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('content type: text/html')) return new ServerFailure('rubbish', WEB_PAGE)
  if (error instanceof SyntaxError) return new ServerFailure('rubbish', 'the answer is not JSON')
  if (message.startsWith("Server's protocol version")) return new ServerFailure('refused', message)
  return rubbish(message)
}

/** What a schema library says about a value is for whoever wrote the schema. */
const isForPeople = (why: string) => !/^\s*\[|[{\n]/.test(why)

const WEB_PAGE = 'a web page (text/html) answers here, and no MCP server: check its url'

const rubbish = (why: string) =>
  new ServerFailure('rubbish', `the answer cannot be understood${isForPeople(why) ? `: ${why}` : ''}`)

const timedOut = ({ phase, timeout_ms }: FailureContext) =>
  phase === 'connect' ? notConnectedWithin(timeout_ms) : notAnsweredWithin(timeout_ms)

const gone = ({ phase, reason }: FailureContext) =>
  new ServerFailure(phase === 'connect' ? 'unreachable' : 'lost', reason ?? 'the connection was closed')
