/**
 * Messages over Streamable HTTP: the SDK's transport, and what it leaves open. A stream that ends without the answer
 * ends the request too, a request that is over ends its stream, and a server cannot make us ask it all the time.
 */
import { type JSONRPCMessage, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import type { HttpTarget } from '../../servers/server-config.ts'
import { ServerFailure } from '../connection.ts'
import { isWanted } from '../message-filter.ts'
import { createPendingRequests, failedAnswer, isAnswer, type PendingRequest } from '../pending-requests.ts'
import { setAside } from '../set-aside.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { createPatience } from './patience.ts'
import { createTimers } from './timers.ts'

export interface HttpTransport extends Transport {
  /** Tells the server that its session with us is over, if there is one. */
  leave(): Promise<void>
}

/** The SDK's types differ about options that are given as undefined; its code does not. */
type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>

const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
}
/** After the answer, a stream may stay open this long; cut off at once, no connection could be used again. */
const LINGER_MS = 2_000

export function createHttpTransport({ url, headers }: HttpTarget): HttpTransport {
  const timers = createTimers()
  const patience = createPatience()
  const pending = createPendingRequests(({ givenUp }) => void timers.later(() => givenUp.abort(), LINGER_MS))
  const inner = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: createBoundedFetch((sent, why) => answerFor(pending.find(JSON.parse(sent).id), why)),
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler: (reconnect, delayMs) => timers.later(reconnect, patience(delayMs)),
  })
  const receive = (message: JSONRPCMessage) => {
    const request = isAnswer(message) && message.id !== undefined ? pending.find(message.id) : undefined
    if (request) setAside(message, request.method)
    if (isWanted(message, pending)) transport.onmessage?.(message)
  }
  const answerFor = (request: PendingRequest | undefined, failure: ServerFailure) => {
    if (request && pending.find(request.id) === request) receive(failedAnswer(request, failure))
  }
  const sendRequest = (message: JSONRPCMessage, request: PendingRequest, options: SendOptions) =>
    inner.send(message, {
      ...options,
      requestSignal: AbortSignal.any([
        request.givenUp.signal,
        ...(options.requestSignal ? [options.requestSignal] : []),
      ]),
      onRequestStreamEnd() {
        options.onRequestStreamEnd?.()
        answerFor(request, new ServerFailure('lost', 'the server ended the stream without an answer'))
      },
    })
  inner.onmessage = receive
  inner.onerror = (error) => transport.onerror?.(error)
  inner.onclose = () => transport.onclose?.()

  const transport: HttpTransport = {
    hasPerRequestStream: true,
    get sessionId() {
      return inner.sessionId
    },
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    start: () => inner.start(),
    leave: () => inner.terminateSession(),
    async close() {
      timers.end()
      await inner.close()
    },
    async send(message, options = {}) {
      const request = pending.sent(message)
      if (!request) return inner.send(message, options as SendOptions)
      return sendRequest(message, request, options as SendOptions).catch((error: unknown) => {
        pending.forget(request)
        throw error
      })
    },
  }
  return transport
}
