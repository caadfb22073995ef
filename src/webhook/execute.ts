/** The webhook, `POST /execute`: starts a run and answers once it is on disk. */
import { createWebhookKey } from '../auth/webhook-key.ts'
import type { Agents } from '../catalog/agents.ts'
import type { Config } from '../config/schema.ts'
import { AppError } from '../contract/errors.ts'
import { callerOf } from '../http/caller.ts'
import { IDEMPOTENCY_KEY, REPLAYED } from '../http/idempotency-key.ts'
import { readJsonBody } from '../http/json-body.ts'
import type { PlainRoute } from '../http/plain-app.ts'
import type { Accept } from '../runs/accept.ts'
import { findAgent, readExecution } from './execution.ts'

const PATH = '/execute'
const OFF = 'the webhook is turned off; webhook.enabled (SVC_WEBHOOK_ENABLED) turns it on'
/** Who an open door lets in; repeated requests are told apart by it. */
const ANYBODY = 'local'

interface WebhookParts {
  agents: Agents
  accept: Accept
  config: Pick<Config, 'webhook' | 'local_mode' | 'trust_proxy'>
}

export function createWebhook({ agents, accept, config }: WebhookParts): PlainRoute {
  const authenticate = createAuthenticate(config)
  return {
    path: PATH,
    methods: ['POST'],
    off: config.webhook.enabled ? undefined : OFF,
    async handle(exchange, requestId) {
      const principal = authenticate(exchange.header('authorization'))
      const body = await readJsonBody(exchange, { optional: false })
      const execution = readExecution(body, exchange.header(IDEMPOTENCY_KEY.toLowerCase()))
      const { key, task, variables } = execution
      const { answer, replayed } = await accept({
        agent: () => findAgent(agents, execution),
        ...{ task, variables },
        source: { type: 'webhook', principal, ...callerOf(exchange, requestId, config.trust_proxy) },
        repeatable:
          key === undefined ? undefined : { key, principal: principal ?? ANYBODY, route: `POST ${PATH}`, body },
      })
      return { status: 202, body: answer, headers: replayed ? REPLAYED : {} }
    },
  }
}

type Authenticate = (authorization: string | undefined) => string | null

/** Who calls: with a key set exactly its holder, in local mode without one anybody, else nobody. */
function createAuthenticate({ webhook, local_mode }: WebhookParts['config']): Authenticate {
  if (webhook.api_key === undefined && local_mode) return () => null
  const isKey = webhook.api_key === undefined ? () => false : createWebhookKey(webhook.api_key)
  return (authorization) => {
    if (isKey(authorization)) return 'webhook-key'
    throw new AppError('UNAUTHORIZED', 'send the webhook key as Authorization: Bearer <key>')
  }
}
