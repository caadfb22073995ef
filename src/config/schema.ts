/** The one description of every configuration key: type, default, what it means, and how it may be given. */
import { z } from 'zod'
import { prices } from './prices.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** Never shown: not in messages, not in tables, not over REST. */
    secret?: boolean
    /** The variable's name where it is not the key's path in upper case. */
    env?: string
    /** Also a flag of `serve` and `config`. */
    flag?: boolean
    /** An empty value usually means "not set"; here it is more likely a mistake that would open a door. */
    refuseEmpty?: boolean
  }
}

const flag = true
const secret = true

const text = () => z.string({ error: 'must be text (a value of digits only needs quotes)' }).min(1)
const toggle = () => z.boolean({ error: 'must be true or false' })
const list = () => z.array(text(), { error: 'must be a list of texts' }).default([])
const oneOf = <const T extends readonly string[]>(...names: T) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` })
const url = () => z.url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' })
const hasCredentials = (text: string) => URL.canParse(text) && new URL(text).username + new URL(text).password !== ''
/** As a header carries it: blanks at its ends would never arrive. */
const headerText = () =>
  text().regex(/^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u, {
    error: 'must not have blanks at its ends or control characters',
  })
/** Paths are put behind it, and each begins with its own slash. */
const base = () => url().transform((text) => text.replace(/\/+$/, ''))

function whole(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

const port = () => whole(0, 65_535)
const address = () => text().regex(/^[\w.:%-]+$/, { error: 'must be an IP address or a host name' })
const postgres = () => text().regex(/^postgres(ql)?:\/\//, { error: 'must be a URL that starts with postgres://' })
const onlyApiKeys = () =>
  z.literal('api_key', {
    error: 'must be api_key: subscription-based OAuth login for a provider is unavailable; use API keys',
  })

export const configSchema = z.strictObject({
  local_mode: toggle()
    .default(true)
    .meta({ description: 'No authentication, this machine only; false wants credentials on every door', flag }),
  host: address().optional().meta({ description: 'Address to listen on; not set = loopback', flag }),
  insecure_no_auth: toggle().default(false).meta({
    description:
      'Let local mode listen beyond loopback, without authentication; names that others use go into allowed_hosts',
    flag,
  }),
  api: z.strictObject({
    port: port().default(8585).meta({ description: 'Port of the REST API and the web UI; 0 = any free port', flag }),
  }),
  mcp: z.strictObject({
    port: port().default(8586).meta({ description: 'Port of the management MCP server; 0 = any free port', flag }),
    cancel_on_disconnect: toggle()
      .default(false)
      .meta({ description: 'Cancel a run when the management MCP client that waits for it goes away' }),
  }),
  agent_mcp: z.strictObject({
    port: port()
      .default(8587)
      .meta({ description: 'Port of the agents as MCP tools and of the webhook; 0 = any', flag }),
    cancel_on_disconnect: toggle()
      .default(true)
      .meta({ description: 'Cancel a run when the MCP client that called the agent goes away' }),
  }),
  public_url: z.strictObject({
    api: base().optional().meta({ description: 'The REST address as others see it' }),
    mcp: base().optional().meta({ description: 'The management MCP address as others see it' }),
    agents: base().optional().meta({ description: 'The address of agents and webhook as others see it' }),
  }),
  allowed_hosts: list().meta({ description: 'Further Host names that requests may carry' }),
  allowed_origins: list().meta({
    description: 'Origins that are not refused (a proxy in front); no CORS headers are sent',
  }),
  trust_proxy: toggle().default(false).meta({ description: 'Believe the forwarding headers of a proxy in front' }),
  database_url: postgres().optional().meta({ description: 'PostgreSQL; not set = the embedded database', secret }),
  drain_seconds: whole(0, 3600).default(20).meta({ description: 'Longest wait for current steps when stopping' }),
  log_level: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .meta({ description: 'How much the log on stderr says', flag }),
  max_concurrent_runs: whole(1, 10_000).default(32).meta({ description: 'Runs that one process executes at once' }),
  max_queued_runs: whole(1, 100_000_000).default(100_000).meta({ description: 'Waiting runs before new ones get 429' }),
  retention_days: whole(0, 36_500).default(30).meta({ description: 'Days that ended runs are kept; 0 = for ever' }),
  webhook: z.strictObject({
    enabled: toggle().default(true).meta({ description: 'Serve POST /execute' }),
    api_key: headerText()
      .optional()
      .meta({ description: 'The bearer key that POST /execute wants', secret, refuseEmpty: true }),
  }),
  notify: z.strictObject({
    webhook_url: url().optional().meta({ description: 'Where the notify tool posts to' }),
    api_key: text().optional().meta({ description: 'Bearer token sent with notifications', secret }),
    timeout_seconds: whole(1, 600)
      .default(10)
      .meta({ description: 'Longest wait for the notification endpoint', env: 'SVC_NOTIFY_TIMEOUT' }),
    format: oneOf('push', 'json', 'auto').default('auto').meta({ description: 'Form of a notification' }),
  }),
  events: z.strictObject({
    webhook_url: url().optional().meta({ description: 'Where run.completed and run.failed are sent' }),
    secret: text().optional().meta({ description: 'Signs the events that are sent', secret }),
  }),
  platform: z.strictObject({
    enabled: toggle().default(false).meta({ description: 'Register at a management platform' }),
    url: url().optional().meta({ description: 'Address of the management platform' }),
    registration_key: text().optional().meta({ description: 'Registers this service at the platform', secret }),
    name: text().optional().meta({ description: 'Name of this service at the platform' }),
    tags: list().meta({ description: 'Tags of this service at the platform' }),
    organization_id: text().optional().meta({ description: 'The organization whose users may call' }),
    oauth: z.strictObject({
      enabled: toggle().default(false).meta({ description: 'MCP and webhook want tokens of the platform' }),
      client_id: text().optional().meta({ description: 'OAuth client that MCP clients use' }),
      authorization_url: url().optional().meta({ description: 'Authorization endpoint; not set = discovered' }),
      token_url: url().optional().meta({ description: 'Token endpoint; not set = discovered' }),
      introspection_url: url().optional().meta({ description: 'Introspection endpoint; not set = discovered' }),
      introspection_client_id: text().optional().meta({ description: 'Client that this service introspects as' }),
      introspection_client_secret: text().optional().meta({ description: 'Secret of that client', secret }),
      strict_claims: toggle().default(false).meta({ description: 'Refuse tokens without aud and token_type' }),
    }),
  }),
  ai: z.strictObject({
    provider: oneOf('openai', 'anthropic', 'google', 'openai-compatible', 'offline')
      .optional()
      .meta({ description: 'Model provider; not set = the first with a key, else offline' }),
    model: text().optional().meta({ description: 'Model of agents that name none' }),
    base_url: url()
      .refine((text) => !hasCredentials(text), {
        error: 'must not carry a user name or password; keys go into <PROVIDER>_API_KEY',
      })
      .optional()
      .meta({ description: 'Chat-completions endpoint to use instead of the provider’s own' }),
    auth_type: onlyApiKeys().optional().meta({ description: 'How to sign in at the provider: api_key' }),
    prices: prices()
      .optional()
      .meta({ description: 'Prices that models cost here, in USD per million tokens; as a variable it is JSON' }),
  }),
})

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly Item[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T

/** Keys of model providers: from the environment only, so that none ends up in a file. */
export type ProviderKeys = { readonly [P in 'openai' | 'anthropic' | 'google']?: string }

export type Config = DeepReadonly<z.output<typeof configSchema>> & {
  readonly home: string
  readonly ai: { readonly keys: ProviderKeys }
  /** The variables of the process, for the files of MCP servers. Full of secrets: never shown. */
  readonly env: Readonly<Record<string, string>>
}
