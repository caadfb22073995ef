/**
 * A text as a message for the SDK. Of an answer only what matters goes through the SDK's checks: they look at every field,
 * and an answer with hundreds of thousands of them would keep everybody else waiting.
 */
import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client'
import { isJsonObject, type Json } from '../../contract/tool.ts'
import type { PendingRequest, PendingRequests } from './pending-requests.ts'
import { withoutParts } from './set-aside.ts'

/** Undefined when it is no message, or an answer that nobody waits for. */
export function readMessage(text: string, pending: PendingRequests): JSONRPCMessage | undefined {
  try {
    const value: Json = JSON.parse(text)
    if (!isJsonObject(value)) return undefined
    if ('method' in value) return parseJSONRPCMessage(value)
    const { id } = value
    const request = typeof id === 'number' || typeof id === 'string' ? pending.find(id) : undefined
    return request && parseJSONRPCMessage({ jsonrpc: '2.0', id, ...outcomeOf(value, request) })
  } catch {
    return undefined
  }
}

function outcomeOf({ result, error }: { [key: string]: Json }, { method }: PendingRequest): object {
  if (isJsonObject(error)) return { error: { code: error.code, message: error.message } }
  return { result: isJsonObject(result) ? withoutParts(result, method) : result }
}
