/** A turn of a model that is reached over the network: attempts, waits in between, and the words when it is no use. */
import type { Config } from '../config/schema.ts'
import type { Log } from '../telemetry/log.ts'
import { attempt } from './attempt.ts'
import { type Backoff, waitBefore } from './backoff.ts'
import { createEndpoints, type Endpoint } from './endpoints.ts'
import { type Failure, readFailure } from './failure.ts'
import { ModelFailure, type Turn, type TurnRequest } from './models.ts'
import { pause } from './pause.ts'
import type { CostOf } from './prices.ts'
import type { Patience } from './watch.ts'
import type { Fetch } from './wire.ts'

const MOST_ATTEMPTS = 5
const LONGEST_DETAIL = 500

export interface RemoteParts {
  ai: Config['ai']
  log: Log | undefined
  fetch: Fetch
  patience: Patience
  backoff: Backoff
  costOf: CostOf
}

export function createRemote({ ai, log, fetch, patience, backoff, costOf }: RemoteParts) {
  const endpointFor = createEndpoints({ ai, fetch })
  const withoutSecrets = createRedaction(ai)

  return async function turn(request: TurnRequest): Promise<Turn> {
    const endpoint = await endpointFor(request.model)
    for (let attempts = 1; ; attempts++) {
      request.signal.throwIfAborted()
      try {
        const answer = await attempt(request, endpoint, patience)
        return { ...answer, cost_usd: costOf(request.model, answer.usage), attempts }
      } catch (error) {
        request.signal.throwIfAborted()
        const failure = readFailure(error, endpoint)
        const message = sentence(failure, withoutSecrets(failure.detail ?? ''), endpoint, attempts)
        if (!failure.again || attempts === MOST_ATTEMPTS) throw new ModelFailure(message, attempts)
        const wait_ms = Math.round(waitBefore(attempts, failure.asked_ms ?? 0, backoff))
        log?.warn({ model: request.model, attempts, wait_ms, reason: message }, 'a model call will be repeated')
        await pause(wait_ms, request.signal)
      }
    }
  }
}

/** "anthropic refused the key (401): check ANTHROPIC_API_KEY. Details: invalid x-api-key" */
function sentence({ what, advice }: Failure, detail: string, { who }: Endpoint, attempts: number): string {
  const tried = attempts === 1 ? '' : `, tried ${attempts} times`
  const details = detail
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_DETAIL)
  return `${who} ${what}${tried}${advice ? `: ${advice}` : ''}${details && `. Details: ${details}`}`
}

/** Providers like to quote what they refuse. */
function createRedaction({ keys, base_url }: Config['ai']): (text: string) => string {
  const password = base_url ? new URL(base_url).password : ''
  const secrets = [...Object.values(keys), password].filter((secret) => secret !== '')
  return (text) => secrets.reduce((safe, secret) => safe.replaceAll(secret, '••••'), text)
}
