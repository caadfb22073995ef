/** Hears when a server says that its tools have changed, in both eras of the protocol. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'

/** A server may say it a thousand times a second. */
const PAUSE_MS = 200
const LISTEN_MS = 10_000
const LISTEN_AGAIN_MS = 30_000

/** Returns a function that ends it. */
export function watchTools(client: Client, onToolsChanged: () => void): () => void {
  const end = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const tell = () => {
    timer = undefined
    if (!end.signal.aborted) onToolsChanged()
  }
  const hear = () => {
    timer ??= setTimeout(tell, PAUSE_MS).unref()
  }
  client.setNotificationHandler('notifications/tools/list_changed', hear)
  if (client.getProtocolEra() === 'modern' && client.getServerCapabilities()?.tools?.listChanged)
    void keepListening(client, hear, end.signal)
  return () => {
    end.abort()
    clearTimeout(timer)
  }
}

/** Servers of the modern era tell only those who listen, and whoever was cut off has to listen anew. */
async function keepListening(client: Client, hear: () => void, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    try {
      const { closed } = await client.listen({ toolsListChanged: true }, { timeout: LISTEN_MS, signal })
      if (round > 0) hear()
      await closed
    } catch {
      // It does not let us listen; the list is read again now and then anyway.
    }
    await delay(LISTEN_AGAIN_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}
