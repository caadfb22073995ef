import type { Rules } from './rule.ts'

/** Every setting: where it may come from, its name, its default, and what happens when it is wrong. */
export const configRules = {
  'config.precedence': {
    from: 'decisions 1',
    says: 'A flag wins over SVC_*, SVC_* over config.yaml, config.yaml over the default.',
  },
  'config.env-names': {
    from: 'decisions 1',
    says: 'The SVC_ name of a key is its path in upper case with dots as underscores.',
  },
  'config.notify-timeout-name': {
    from: 'spec 6.2, decisions 1',
    says: 'notify.timeout_seconds is set by SVC_NOTIFY_TIMEOUT.',
  },
  'config.lists-by-comma': { from: 'decisions 1', says: 'A list in an SVC_ variable is separated by commas.' },
  'config.empty-is-unset': { from: 'decisions 1', says: 'An empty SVC_ value counts as not set.' },
  'config.empty-webhook-key': { from: 'decisions 1', says: 'An empty webhook key is refused.' },
  'config.wrong-value': {
    from: 'decisions 1',
    says: 'A wrong value in config.yaml stops the start with exit code 2, the key and the place.',
  },
  'config.unknown-key': {
    from: 'decisions 1',
    says: 'An unknown key in config.yaml stops the start with exit code 2, the key, the place and the nearest valid key.',
  },
  'config.unknown-env': {
    from: 'decisions 1',
    says: 'An unknown SVC_* variable gives a warning with the nearest key and the start goes on.',
  },
  'config.webhook-enabled': {
    from: 'spec 4.5',
    says: 'webhook.enabled, SVC_WEBHOOK_ENABLED, takes true or false and is true by default.',
  },
  'config.webhook-api-key': { from: 'spec 4.5', says: 'webhook.api_key, SVC_WEBHOOK_API_KEY, has no default.' },
  'config.notify-webhook-url': {
    from: 'spec 6.2',
    says: 'notify.webhook_url, SVC_NOTIFY_WEBHOOK_URL, is a string without a default.',
  },
  'config.notify-api-key': {
    from: 'spec 6.2',
    says: 'notify.api_key, SVC_NOTIFY_API_KEY, is a string without a default.',
  },
  'config.notify-timeout': {
    from: 'spec 6.2, spec 8',
    says: 'notify.timeout_seconds is an integer and 10 by default.',
  },
  'config.notify-format': {
    from: 'spec 6.2',
    says: 'notify.format, SVC_NOTIFY_FORMAT, is push, json or auto, and auto by default.',
  },
  'config.platform': {
    from: 'spec 5.5',
    says: 'platform.enabled (boolean), .registration_key (secret), .name (string) and .tags (strings) are config keys.',
  },
  'config.platform-oauth': {
    from: 'spec 5.5, decisions 1',
    says: 'platform.oauth.enabled (boolean) and platform.oauth.client_id (string) are config keys.',
  },
  'config.ai-provider': {
    from: 'spec 5.7, decisions 10',
    says: 'SVC_AI_PROVIDER takes openai, anthropic, google, openai-compatible or offline.',
  },
  'config.ai-auth-type': { from: 'spec 5.7', says: 'SVC_AI_AUTH_TYPE takes api_key.' },
  'config.ai-model': {
    from: 'decisions 10',
    says: 'SVC_AI_MODEL takes the default model and SVC_AI_BASE_URL the address of the provider.',
  },
  'config.address-keys': {
    from: 'decisions 1',
    says: 'public_url.api, public_url.mcp, public_url.agents, allowed_hosts, allowed_origins and trust_proxy are config keys.',
  },
  'config.endpoint': {
    from: 'decisions 2',
    says: 'GET /config answers the resolved configuration with secret values masked.',
  },
  'config.endpoint-scope': { from: 'decisions 2, decisions 7', says: 'GET /config wants admin.' },
} as const satisfies Rules
