/** Connects to an MCP server, of whichever transport and era, within its time, and cleans up when that fails. */
import { ProtocolError, SdkError, SdkErrorCode, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import type { Log } from '../../telemetry/log.ts'
import type { HttpTarget, StdioTarget } from '../servers/server-config.ts'
import { startBudget } from './budget.ts'
import { startChild } from './child-process.ts'
import { type Connect, ServerFailure } from './connection.ts'
import { toFailure } from './failure.ts'
import { shakeHands } from './handshake.ts'
import { createHttpTransport } from './http-transport.ts'
import { networkFailure } from './network-failure.ts'
import { type Line, openConnection } from './open-connection.ts'
import { createClient } from './sdk-client.ts'
import { createStdioTransport } from './stdio-transport.ts'
import { createSweep } from './sweep.ts'

interface ConnectParts {
  log: Log
  /** As `serviceMark` gives it: marks the processes that belong to this service. */
  service: string
}

const MODERN_ONLY: VersionNegotiationMode = { pin: '2026-07-28' }
/** How many servers are remembered to speak the modern era only. */
const MAX_REMEMBERED = 1_000

export function createConnect({ log, service }: ConnectParts): Connect {
  const sweep = createSweep()
  const modernOnly = new LRUCache<string, true>({ max: MAX_REMEMBERED })

  async function overPipes(target: StdioTarget, mode: VersionNegotiationMode, signal: AbortSignal): Promise<Line> {
    signal.throwIfAborted()
    const transport = createStdioTransport(await startChild({ target, service, sweep }), log)
    const client = createClient({ mode }, log)
    await shakeHands(client, transport, signal).catch((error: unknown) => {
      throw isClosed(error) ? new ServerFailure('unreachable', transport.reason() ?? 'the server is gone') : error
    })
    return { client, transport, ended: transport.ended, reason: transport.reason }
  }

  async function overHttp(target: HttpTarget, mode: VersionNegotiationMode, signal: AbortSignal): Promise<Line> {
    const transport = createHttpTransport(target)
    const client = createClient({ mode }, log)
    await shakeHands(client, transport, signal)
    return { client, transport, leave: transport.leave }
  }

  /** To ask for the era first would cost most servers a second process; the few that speak only the modern one pay. */
  async function stdio(target: StdioTarget, hash: string, signal: AbortSignal): Promise<Line> {
    if (modernOnly.get(hash)) {
      return overPipes(target, MODERN_ONLY, signal).catch((error: unknown) => {
        modernOnly.delete(hash)
        throw error
      })
    }
    return overPipes(target, 'legacy', signal).catch(async (refusal: unknown) => {
      if (!isRefusal(refusal)) throw refusal
      const line = await overPipes(target, MODERN_ONLY, signal).catch((error: unknown) => {
        throw isUndecided(error) ? refusal : error
      })
      modernOnly.set(hash, true)
      return line
    })
  }

  /** Some older servers fail on the question for the era, and do well without it. */
  const http = (target: HttpTarget, signal: AbortSignal): Promise<Line> =>
    overHttp(target, 'auto', signal).catch((error: unknown) => {
      if (!isUndecided(error)) throw error
      return overHttp(target, 'legacy', signal)
    })

  return async (config, hooks, wanted) => {
    const { target, hash, mask, connect_timeout_ms: timeout_ms } = config
    const budget = startBudget(timeout_ms, wanted)
    try {
      const line = await (target.kind === 'stdio' ? stdio(target, hash, budget.signal) : http(target, budget.signal))
      return openConnection(line, config, hooks)
    } catch (error) {
      throw toFailure(error, { phase: 'connect', has_session: false, mask, timeout_ms })
    } finally {
      budget.end()
    }
  }
}

const isClosed = (error: unknown) => error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed

const isRefusal = (error: unknown) => error instanceof ProtocolError && !(error.data instanceof ServerFailure)

/** The server has answered, but nothing that tells its era. */
const isUndecided = (error: unknown) =>
  error instanceof SdkError &&
  error.code === SdkErrorCode.EraNegotiationFailed &&
  networkFailure(error, 'connect') === undefined
