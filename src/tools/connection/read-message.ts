/**
 * A text as a message for the SDK. Of an answer only what matters goes through the SDK's checks: they look at every field,
 * and an answer with hundreds of thousands of them would keep everybody else waiting.
 */
import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client'
import type { PendingRequest, PendingRequests } from './pending-requests.ts'
import { withoutParts } from './set-aside.ts'

/** Undefined when it is no message, or an answer that nobody waits for. */
export function readMessage(text: string, pending: PendingRequests): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value)) return undefined
    if ('method' in value) return parseJSONRPCMessage(value)
    const { id } = value
    const request = typeof id === 'number' || typeof id === 'string' ? pending.find(id) : undefined
    return request && parseJSONRPCMessage({ jsonrpc: '2.0', id, ...outcomeOf(value, request) })
  } catch {
    return undefined
  }
}

function outcomeOf({ result, error }: Record<string, unknown>, { method }: PendingRequest): object {
  if (isRecord(error)) return { error: { code: error.code, message: error.message } }
  return { result: isRecord(result) ? withoutParts(result, method) : result }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
