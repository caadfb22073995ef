/** What kept us from an HTTP server, in short words. Node hides it in the cause of "fetch failed". */
import { ServerFailure } from '../connection.ts'
import type { Phase } from '../phase.ts'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address (connection refused)',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  ETIMEDOUT: 'the host does not answer',
}
/** The other side's certificate was looked at and refused, before anything was said. */
const CERTIFICATE = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/
const SECURE = /^(ERR_TLS|ERR_SSL|EPROTO)/
const CUT = /^(UND_ERR_|ECONNRESET|EPIPE|ECONNABORTED|HPE_)/

interface Coded {
  code: string
  /** What the system was asked for when it failed. */
  syscall?: unknown
}

/** Undefined when it is not a matter of the network. */
export function networkFailure(error: unknown, phase: Phase): ServerFailure | undefined {
  const coded = codedIn(error)
  const reason = coded.map(inWords).find((words) => words !== undefined)
  if (reason === undefined) return withoutCode(error, phase)
  return coded.some(wasNeverConnected) ? new ServerFailure('unreachable', reason) : lost(phase, reason)
}

function inWords({ code }: Coded): string | undefined {
  if (CERTIFICATE.test(code) || SECURE.test(code)) return `no secure connection could be made (${code})`
  return REASONS[code] ?? (CUT.test(code) ? `the connection was cut (${code})` : undefined)
}

/** The same codes are given for a connection that broke after the request was sent, and then nobody knows. */
const wasNeverConnected = ({ code, syscall }: Coded) =>
  CERTIFICATE.test(code) || code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo'

const lost = (phase: Phase, words: string) => new ServerFailure(phase === 'connect' ? 'unreachable' : 'lost', words)

/** What fetch refuses to send at all, and what was broken off, come without a code. */
function withoutCode(error: unknown, phase: Phase): ServerFailure | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'AbortError' || error.message === 'terminated') return lost(phase, 'the request was cut off')
  if (error.message !== 'fetch failed') return undefined
  const { cause } = error
  return lost(phase, `the server could not be reached${cause instanceof Error ? `: ${cause.message}` : ''}`)
}

/** The error and what is behind it: a host with several addresses fails with several errors. */
function codedIn(error: unknown, depth = 0): Coded[] {
  if (!(error instanceof Error) || depth > 4) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error as Coded & Error] : []
  const several = error instanceof AggregateError ? error.errors : []
  return [...own, ...[error.cause, ...several].flatMap((inner) => codedIn(inner, depth + 1))]
}
