/** A connection once the first words are spoken: lists, calls, and an end that leaves nothing behind. */
import type { Client, Transport } from '@modelcontextprotocol/client'
import { CALL_KEY } from '../../contract/tool.ts'
import type { ServerConfig } from '../servers/server-config.ts'
import { toAnswer } from './answer.ts'
import type { ConnectHooks, Connection } from './connection.ts'
import { toFailure } from './failure.ts'
import { maskList } from './lists/masked-list.ts'
import { listTools } from './lists/tool-list.ts'
import { watchTools } from './lists/watch-tools.ts'
import { maskedLine } from './stdio/last-words.ts'
import { within } from './within.ts'

const GOODBYE_MS = 1_000

export interface Line {
  client: Client
  transport: Transport
  /** Resolves with the reason when the transport is gone; a transport that has no end of its own has none. */
  ended?: Promise<string>
  reason?: () => string | undefined
  /** Says goodbye where the protocol has a word for it. */
  leave?: () => Promise<void>
}

export function openConnection(line: Line, config: ServerConfig, hooks: ConnectHooks): Connection {
  const { client, transport } = line
  const lost = Promise.withResolvers<string>()
  let closing: Promise<void> | undefined
  const stopWatching = watchTools(client, hooks.onToolsChanged)
  let reason: string | undefined
  void line.ended?.then((how) => {
    stopWatching()
    if (closing) return
    // Whoever hears of the loss closes us, perhaps before the calls in flight have told why they failed.
    reason = how
    lost.resolve(maskedLine(how, config.mask))
  })

  const failed = (error: unknown, timeout_ms: number) =>
    toFailure(error, {
      phase: 'request',
      has_session: transport.sessionId !== undefined,
      mask: config.mask,
      reason: reason ?? (closing ? undefined : line.reason?.()),
      timeout_ms,
    })
  async function close(): Promise<void> {
    stopWatching()
    if (line.leave) await within(line.leave(), GOODBYE_MS)
    await client.close()
    await transport.close()
  }
  return {
    lost: lost.promise,
    list: ({ timeout_ms }) =>
      listTools(client, timeout_ms).then(
        (list) => maskList(list, config.mask),
        (error) => {
          throw failed(error, timeout_ms)
        },
      ),
    async call({ name, input_schema }, input, { key, signal, timeout_ms }) {
      signal.throwIfAborted()
      const toolDefinition = { name, inputSchema: input_schema as { type: 'object' } }
      try {
        const params = { name, arguments: input, _meta: { [CALL_KEY]: key } }
        const result = await client.callTool(params, { signal, timeout: timeout_ms, toolDefinition })
        return toAnswer(result, config.mask)
      } catch (error) {
        signal.throwIfAborted()
        throw failed(error, timeout_ms)
      }
    },
    close: () => (closing ??= close()),
  }
}
