/** What kept us from an HTTP server, in short words. Node hides it in the cause of "fetch failed". */
import { ServerFailure } from '../connection.ts'
import type { Phase } from '../phase.ts'

/** Nothing was sent when one of these happens. */
const NOT_REACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address (connection refused)',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  ETIMEDOUT: 'the host does not answer',
}
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/

/** Undefined when it is not a matter of the network. */
export function networkFailure(error: unknown, phase: Phase): ServerFailure | undefined {
  const code = codes(error).find((one) => one in NOT_REACHED || TLS.test(one) || isSocket(one))
  if (code === undefined) return withoutCode(error, phase)
  const reason = NOT_REACHED[code]
  if (reason) return new ServerFailure('unreachable', reason)
  if (TLS.test(code)) return new ServerFailure('unreachable', `no secure connection could be made (${code})`)
  return lost(phase, `the connection was cut (${code})`)
}

const lost = (phase: Phase, words: string) => new ServerFailure(phase === 'connect' ? 'unreachable' : 'lost', words)

const isSocket = (code: string) => /^(UND_ERR_|ECONNRESET|EPIPE|ECONNABORTED|HPE_)/.test(code)

/** What fetch refuses to send at all, and what was broken off, come without a code. */
function withoutCode(error: unknown, phase: Phase): ServerFailure | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'AbortError' || error.message === 'terminated') return lost(phase, 'the request was cut off')
  if (error.message !== 'fetch failed') return undefined
  const { cause } = error
  return lost(phase, `the server could not be reached${cause instanceof Error ? `: ${cause.message}` : ''}`)
}

/** Of the error and of what is behind it: a host with several addresses fails with several errors. */
function codes(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 4) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  const several = error instanceof AggregateError ? error.errors : []
  return [...own, ...[error.cause, ...several].flatMap((inner) => codes(inner, depth + 1))]
}
