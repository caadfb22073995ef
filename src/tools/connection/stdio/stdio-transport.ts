/**
 * Messages over the pipes of a process, one JSON text a line. The SDK's own transport has no process group, gives up the
 * connection for one large message, and waits for ever when a server does not read.
 */
import { type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import type { Log } from '../../../telemetry/log.ts'
import { ServerFailure } from '../connection.ts'
import { isWanted } from '../message-filter.ts'
import { createPendingRequests } from '../pending-requests.ts'
import { within } from '../within.ts'
import type { Child } from './child-process.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { createOutbox } from './outbox.ts'

export interface StdioTransport extends Transport {
  /** Resolves with the reason once the process is gone, whoever wanted it. */
  readonly ended: Promise<string>
  /** The same, as soon as anything else can know of it. */
  reason(): string | undefined
  /** The SDK tells a stdio transport by these two. */
  readonly pid: number
  readonly stderr: null
}

/** A process that ends closes its pipes a moment earlier. */
const EXIT_MS = 300

export function createStdioTransport(child: Child, log: Log): StdioTransport {
  const pending = createPendingRequests()
  const write = createOutbox(child.input)
  let reason: string | undefined
  let isOver = false
  let isClosing = false
  let inbox: Inbox | undefined

  const deliver = (message: JSONRPCMessage) => {
    if (!isOver && isWanted(message, pending)) transport.onmessage?.(message)
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
    const skipped = inbox?.useless()
    if (skipped) log.debug({ skipped }, 'an MCP server wrote lines that are no messages')
    transport.onclose?.()
    return reason
  })
  const transport: StdioTransport = {
    pid: child.pid,
    stderr: null,
    ended,
    reason: () => reason,
    async start() {
      inbox = openInbox({ output: child.output, pending, onMessage: deliver, onNonsense: giveUp })
      child.output.once('close', onPipeClosed)
      child.input.once('close', onPipeClosed)
    },
    async send(message) {
      if (isOver || !child.input.writable) throw new ServerFailure('unreachable', reason ?? 'the server is gone')
      write(serializeMessage(message))
      pending.sent(message)
    },
    close() {
      isClosing = true
      return child.end()
    },
  }
  return transport
}
