/**
 * Messages over the pipes of a process, one JSON text a line. The SDK's own transport has no process group, gives up the
 * connection for one large message, and waits for ever when a server does not read.
 */
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Log } from '../../../telemetry/log.ts'
import { ServerFailure } from '../connection.ts'
import { MAX_WAITING_BYTES } from '../limits.ts'
import { isWanted, notUnderstood, requestBehind, tooLarge } from '../message-filter.ts'
import { createPendingRequests, failedAnswer } from '../pending-requests.ts'
import { within } from '../within.ts'
import type { Child } from './child-process.ts'
import { createLineSplitter } from './line-splitter.ts'

export interface StdioTransport extends Transport {
  /** Resolves with the reason once the process is gone, whoever wanted it. */
  readonly ended: Promise<string>
  /** The same, as soon as anything else can know of it. */
  reason(): string | undefined
  /** The SDK tells a stdio transport by these two. */
  readonly pid: number
  readonly stderr: null
}

/** How much of a line tells whose answer it is. */
const EDGE = 512
/** A process that ends closes its pipes a moment earlier. */
const EXIT_MS = 300

export function createStdioTransport(child: Child, log: Log): StdioTransport {
  const pending = createPendingRequests()
  let reason: string | undefined
  let isOver = false
  let isClosing = false
  let skipped = 0

  const deliver = (message: JSONRPCMessage | undefined) => {
    if (message === undefined) skipped++
    else if (!isOver && isWanted(message, pending)) transport.onmessage?.(message)
  }
  const split = createLineSplitter({
    onLine: (line) => line.trim() !== '' && deliver(parse(line) ?? complaintAbout(line)),
    onTooLong: (edges) => {
      const request = requestBehind(edges, pending)
      deliver(request && failedAnswer(request, tooLarge()))
    },
    onEndless: () => giveUp('the server sent a line of more than 64 MiB'),
  })
  /** An answer to something that was asked, but none that can be understood. */
  function complaintAbout(line: string): JSONRPCMessage | undefined {
    const request = requestBehind({ head: line.slice(0, EDGE), tail: line.slice(-EDGE) }, pending)
    return request && failedAnswer(request, notUnderstood())
  }
  function giveUp(why: string): void {
    reason ??= why
    void child.end()
  }
  async function onPipeClosed(): Promise<void> {
    if (!isClosing && !(await within(child.exited, EXIT_MS))) giveUp('the server closed its input or output')
  }

  const ended = child.ended.then((how) => {
    isOver = true
    reason ??= how
    if (skipped > 0) log.debug({ skipped }, 'an MCP server wrote lines that are no messages')
    transport.onclose?.()
    return reason
  })
  const transport: StdioTransport = {
    pid: child.pid,
    stderr: null,
    ended,
    reason: () => reason,
    async start() {
      child.output.on('data', split)
      child.output.once('close', onPipeClosed)
      child.input.once('close', onPipeClosed)
    },
    async send(message) {
      if (isOver || !child.input.writable) throw new ServerFailure('unreachable', reason ?? 'the server is gone')
      if (child.input.writableLength > MAX_WAITING_BYTES) throw clogged()
      pending.sent(message)
      child.input.write(serializeMessage(message))
    },
    close() {
      isClosing = true
      return child.end()
    },
  }
  return transport
}

const clogged = () => new ServerFailure('unreachable', 'the server does not read its input: 32 MiB are waiting for it')

function parse(line: string): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(JSON.parse(line))
  } catch {
    return undefined
  }
}
