/** The first words with a server. Whatever goes wrong with them, the transport is closed afterwards. */
import type { Client, Transport } from '@modelcontextprotocol/client'

/** Longer than any budget, whose signal ends it all. */
const NO_TIMEOUT_MS = 2 ** 31 - 1

export async function shakeHands(client: Client, transport: Transport, signal: AbortSignal): Promise<void> {
  const giveUp = () => void transport.close()
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect(transport, { timeout: NO_TIMEOUT_MS })
    signal.throwIfAborted()
  } catch (error) {
    await transport.close()
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
