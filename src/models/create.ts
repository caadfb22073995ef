/** The models of the service: names, prices, and turns by whoever serves them. */
import type { Config } from '../config/schema.ts'
import type { Log } from '../telemetry/log.ts'
import { type Backoff, USUAL_BACKOFF } from './backoff.ts'
import type { Models } from './models.ts'
import { createNames, OFFLINE } from './names.ts'
import { offlineTurn } from './offline.ts'
import { createPrices } from './prices.ts'
import type { createRemote } from './remote.ts'
import { type Patience, USUAL_PATIENCE } from './watch.ts'
import type { Fetch } from './wire.ts'

export interface ModelsParts {
  ai: Config['ai']
  log?: Log
  fetch?: Fetch
  patience?: Patience
  backoff?: Backoff
}

export function createModels({
  ai,
  log,
  fetch = globalThis.fetch,
  patience = USUAL_PATIENCE,
  backoff = USUAL_BACKOFF,
}: ModelsParts): Models {
  let remote: Promise<ReturnType<typeof createRemote>> | undefined
  // The SDK is large: the start does not wait for it, and whoever rehearses offline never loads it.
  const loadRemote = async () =>
    (await import('./remote.ts')).createRemote({ ai, log, fetch, patience, backoff, costOf: createPrices(ai) })

  return {
    nameFor: createNames(ai),
    async turn(request) {
      request.signal.throwIfAborted()
      if (request.model === OFFLINE) return offlineTurn(request)
      remote ??= loadRemote().catch((error) => {
        remote = undefined
        throw error
      })
      return (await remote)(request)
    },
  }
}
