/** What a transport lets through to the SDK's client: answers that somebody waits for, and nothing that nobody reads. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { ServerFailure } from './connection.ts'
import { isAnswer, type PendingRequest, type PendingRequests } from './pending-requests.ts'

export const notUnderstood = () => new ServerFailure('rubbish', 'the answer is not a message of the protocol')

export const tooLarge = () => new ServerFailure('rubbish', 'the answer is larger than 10 MiB')

/** Whether the message is to be handed on. A request that it answers is over then. */
export const isWanted = (message: JSONRPCMessage, pending: PendingRequests): boolean =>
  isAnswer(message) ? pending.answeredBy(message) !== undefined : !isChatter(message.method)

const isChatter = (method: string) => /^notifications\/(?:message|progress)$/.test(method)

/** The same told from how a line begins, which is quicker than reading it: some servers say a great deal. */
export const beginsAsChatter = (line: string) =>
  /^\{(?:"jsonrpc":"2\.0",)?"method":"notifications\/(?:message|progress)"/.test(line)

/** The request that a message answers of which only the beginning and the end are left. */
export function requestBehind({ head, tail }: Edges, pending: PendingRequests): PendingRequest | undefined {
  // Serializers write the id before or after the result, so it is near one of the ends.
  const before = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]*")\s*,/.exec(head)?.[1]
  const after = /,\s*"id"\s*:\s*(\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail)?.[1]
  const id = before ?? after
  return id === undefined ? undefined : pending.find(JSON.parse(id))
}

interface Edges {
  head: string
  tail: string
}
