/**
 * The requests of a transport that have no answer yet. The SDK's client knows them too, but tells nobody: without them
 * a transport could neither answer in the place of a server nor keep answers away that nobody waits for.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import type { ServerFailure } from './connection.ts'

export interface PendingRequest {
  readonly id: RequestId
  readonly method: string
  /** Aborts when nobody waits for the answer any more. */
  readonly givenUp: AbortController
}

export interface PendingRequests {
  /** The request, when the message is one. */
  sent(message: JSONRPCMessage): PendingRequest | undefined
  /** The request that the message answers; it is over then. Undefined when nobody waits for it. */
  answeredBy(message: Answer): PendingRequest | undefined
  find(id: RequestId): PendingRequest | undefined
  forget(request: PendingRequest): void
}

type Answer = Exclude<JSONRPCMessage, { method: string }>

/** JSON-RPC wants a code; nobody reads it. */
const INTERNAL_ERROR = -32_603

export function createPendingRequests(onAnswered: (request: PendingRequest) => void = () => {}): PendingRequests {
  const open = new Map<RequestId, PendingRequest>()
  /** Some servers send the number back as a string. */
  const find = (id: RequestId) => open.get(id) ?? (typeof id === 'string' ? open.get(Number(id)) : undefined)
  const forget = ({ id }: PendingRequest) => void open.delete(id)
  function giveUp(id: unknown): void {
    const request = typeof id === 'number' || typeof id === 'string' ? open.get(id) : undefined
    if (!request) return
    forget(request)
    request.givenUp.abort()
  }
  return {
    sent(message) {
      if (isAnswer(message)) return undefined
      if (message.method === 'notifications/cancelled') giveUp(message.params?.requestId)
      if (!('id' in message)) return undefined
      const request = { id: message.id, method: message.method, givenUp: new AbortController() }
      open.set(message.id, request)
      return request
    },
    answeredBy({ id }) {
      const request = id === undefined ? undefined : find(id)
      if (!request) return undefined
      forget(request)
      onAnswered(request)
      return request
    },
    find,
    forget,
  }
}

export const isAnswer = (message: JSONRPCMessage): message is Answer => !('method' in message)

/** An answer in the place of the server's. The failure travels as it is; nothing that a server sends can look like it. */
export const failedAnswer = ({ id }: PendingRequest, failure: ServerFailure): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: INTERNAL_ERROR, message: failure.message, data: failure },
})
