/** Connects to an MCP server, of whichever transport and era, within its time, and cleans up when that fails. */
import { ProtocolError, SdkError, SdkErrorCode, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import type { Log } from '../../telemetry/log.ts'
import type { HttpTarget, StdioTarget } from '../servers/server-config.ts'
import { startBudget } from './budget.ts'
import { type Connect, ServerFailure } from './connection.ts'
import { toFailure } from './failure.ts'
import { shakeHands } from './handshake.ts'
import { createHttpTransport } from './http/http-transport.ts'
import { networkFailure } from './http/network-failure.ts'
import { type Line, openConnection } from './open-connection.ts'
import { createClient } from './sdk-client.ts'
import { startChild } from './stdio/child-process.ts'
import { maskedLine } from './stdio/last-words.ts'
import { createStdioTransport } from './stdio/stdio-transport.ts'
import { createSweep } from './stdio/sweep.ts'

export interface ConnectParts {
  log: Log
  /** The environment of the service: a little of it is passed on. */
  env?: Readonly<Record<string, string>>
  /** As `serviceMark` gives it: marks the processes that belong to this service. */
  service: string
}

/** One try to connect. */
interface Attempt {
  readonly signal: AbortSignal
  mask(text: string): string
  /** What the SDK notices on the way, or later, and nobody asked for. */
  onOddity(error: Error): void
}

const MODERN_ONLY: VersionNegotiationMode = { pin: '2026-07-28' }
/** How many servers are remembered to speak the modern era only. */
const MAX_REMEMBERED = 1_000
const LONGEST_ODDITY = 500

export function createConnect({ log, service, env = {} }: ConnectParts): Connect {
  const sweep = createSweep()
  const modernOnly = new LRUCache<string, true>({ max: MAX_REMEMBERED })

  async function overPipes(target: StdioTarget, mode: VersionNegotiationMode, attempt: Attempt): Promise<Line> {
    attempt.signal.throwIfAborted()
    const child = await startChild({ target, inherited: env, service, sweep, mask: attempt.mask })
    const transport = createStdioTransport(child, log)
    const client = createClient(mode, attempt.onOddity)
    await shakeHands(client, transport, attempt.signal).catch((error: unknown) => {
      throw withHint(error, transport.reason(), child.lastWords())
    })
    return { client, transport, ended: transport.ended, reason: transport.reason }
  }

  async function overHttp(target: HttpTarget, mode: VersionNegotiationMode, attempt: Attempt): Promise<Line> {
    const transport = createHttpTransport(target)
    const client = createClient(mode, attempt.onOddity)
    await shakeHands(client, transport, attempt.signal)
    return { client, transport, leave: transport.leave }
  }

  /** To ask for the era first would cost most servers a second process; the few that speak only the modern one pay. */
  async function stdio(target: StdioTarget, hash: string, attempt: Attempt): Promise<Line> {
    if (modernOnly.get(hash)) {
      return overPipes(target, MODERN_ONLY, attempt).catch((error: unknown) => {
        modernOnly.delete(hash)
        throw error
      })
    }
    return overPipes(target, 'legacy', attempt).catch(async (refusal: unknown) => {
      if (!isRefusal(refusal)) throw refusal
      const line = await overPipes(target, MODERN_ONLY, attempt).catch((error: unknown) => {
        throw isUndecided(error) ? refusal : error
      })
      modernOnly.set(hash, true)
      return line
    })
  }

  /** Some older servers fail on the question for the era, and do well without it. */
  const http = (target: HttpTarget, attempt: Attempt): Promise<Line> =>
    overHttp(target, 'auto', attempt).catch((error: unknown) => {
      if (!isUndecided(error)) throw error
      return overHttp(target, 'legacy', attempt)
    })

  return async (config, hooks, wanted) => {
    const { environment, name: server, target, hash, mask, connect_timeout_ms: timeout_ms } = config
    const { signal, end } = startBudget(timeout_ms, wanted)
    const onOddity = ({ message }: Error) =>
      log.debug(
        { environment, server, oddity: maskedLine(message, mask).slice(0, LONGEST_ODDITY) },
        'an MCP server is odd',
      )
    try {
      const attempt = { signal, mask, onOddity }
      const line = await (target.kind === 'stdio' ? stdio(target, hash, attempt) : http(target, attempt))
      return openConnection(line, config, hooks)
    } catch (error) {
      throw toFailure(error, { phase: 'connect', has_session: false, mask, timeout_ms })
    } finally {
      end()
    }
  }
}

/** What a process says is often the only hint why nobody can talk to it. */
function withHint(error: unknown, reason: string | undefined, lastWords: string): unknown {
  if (isClosed(error)) return new ServerFailure('unreachable', `${reason ?? 'the server is gone'}${endedWell(reason)}`)
  if (!(error instanceof ServerFailure) || error.kind !== 'timeout' || lastWords === '') return error
  return new ServerFailure('timeout', `${error.message}. Its last words: ${lastWords}`)
}

const endedWell = (reason = '') => (/code 0$/.test(reason) ? ' before it answered; does it speak MCP over stdio?' : '')

const isClosed = (error: unknown) => error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed

const isRefusal = (error: unknown) => error instanceof ProtocolError && !(error.data instanceof ServerFailure)

/** The server has answered, but nothing that tells its era. */
const isUndecided = (error: unknown) =>
  error instanceof SdkError &&
  error.code === SdkErrorCode.EraNegotiationFailed &&
  networkFailure(error, 'connect') === undefined
