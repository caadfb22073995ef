/** Which model provider serves agents that name none. */
import type { Config } from '../config/schema.ts'

export type Provider = NonNullable<Config['ai']['provider']>

export interface ChosenProvider {
  provider: Provider
  /** The built-in model that needs no key and no network. */
  offline: boolean
}

/** Named, else an address of its own, else the first provider with a key in this order, else none at all. */
export function chooseProvider({ provider, base_url, keys }: Config['ai']): ChosenProvider {
  const withKey = (['openai', 'anthropic', 'google'] as const).find((name) => keys[name] !== undefined)
  const chosen = provider ?? (base_url ? 'openai-compatible' : (withKey ?? 'offline'))
  return { provider: chosen, offline: chosen === 'offline' }
}
