/** What a process writes, as messages. Lines that are none are passed over, unless there is no end of them. */
import type { Readable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isTooDeep } from '../../../contract/json-depth.ts'
import { beginsAsChatter, notUnderstood, requestBehind, tooLarge } from '../message-filter.ts'
import { failedAnswer, type PendingRequests } from '../pending-requests.ts'
import { readMessage } from '../read-message.ts'
import { createLineSplitter } from './line-splitter.ts'
import { pump } from './pump.ts'

export interface Inbox {
  /** Lines that were no messages. */
  useless(): number
}

interface InboxParts {
  output: Readable
  pending: PendingRequests
  onMessage(message: JSONRPCMessage): void
  /** It makes no sense to go on reading. */
  onNonsense(why: string): void
}

/** How much of a line tells whose answer it is. */
const EDGE = 512
/** What nobody asked for is not even looked at when it is larger than this. */
const MAX_UNASKED = 256 * 1024
const MOST_USELESS = 10_000
const WITHIN_MS = 10_000

export function openInbox({ output, pending, onMessage, onNonsense }: InboxParts): Inbox {
  let useless = 0
  let counted = { from: 0, since: performance.now() }

  function passOver(): void {
    useless++
    if (performance.now() - counted.since > WITHIN_MS) counted = { from: useless, since: performance.now() }
    if (useless - counted.from === MOST_USELESS)
      onNonsense('the server floods its output with lines that are no messages')
  }
  /** To read something large that is nested millions deep takes seconds. */
  const isTooMuch = (line: string) =>
    line.length > MAX_UNASKED && (isTooDeep(line) || !requestBehind(edgesOf(line), pending))
  function onLine(line: string): void {
    if (beginsAsChatter(line)) return
    const message = (isTooMuch(line) ? undefined : readMessage(line, pending)) ?? complaintAbout(line)
    if (message) onMessage(message)
    else passOver()
  }
  /** An answer to something that was asked, but none that can be understood. */
  function complaintAbout(line: string): JSONRPCMessage | undefined {
    const request = requestBehind(edgesOf(line), pending)
    return request && failedAnswer(request, notUnderstood())
  }
  const split = createLineSplitter({
    onLine,
    onUseless: passOver,
    onTooLong(edges) {
      const request = requestBehind(edges, pending)
      if (request) onMessage(failedAnswer(request, tooLarge()))
      else passOver()
    },
    onEndless: () => onNonsense('the server sent a line of more than 64 MiB'),
  })
  pump(output, split)
  return { useless: () => useless }
}

const edgesOf = (line: string) => ({ head: line.slice(0, EDGE), tail: line.slice(-EDGE) })
