/** The names of models: `provider/model`, or `offline`, from what agents and the configuration ask for. */
import type { Config } from '../config/schema.ts'
import { chooseProvider, type Provider } from './select.ts'

export type RemoteProvider = Exclude<Provider, 'offline'>

export const OFFLINE = 'offline'

/** What answers when nobody names a model; `default` is what many servers of one's own call theirs. */
export const DEFAULT_MODELS: Readonly<Record<RemoteProvider, string>> = {
  openai: 'gpt-6.1-sol',
  anthropic: 'claude-sonnet-5-5',
  google: 'gemini-3.8-flash',
  'openai-compatible': 'default',
}

const PROVIDERS = new Set<string>([...Object.keys(DEFAULT_MODELS), OFFLINE])

export function createNames(ai: Config['ai']): (model: string | null) => string {
  const { provider } = chooseProvider(ai)
  const bare = (model: string) => (provider === OFFLINE ? OFFLINE : `${provider}/${model}`)
  const named = (model: string) => (namesProvider(model) ? withoutOfflineTail(model) : bare(model))
  const standard = provider === OFFLINE ? (ai.model ?? OFFLINE) : (ai.model ?? DEFAULT_MODELS[provider])
  // Behind an address of one's own there may be a market of models whose names begin like our providers.
  const isVerbatim = ai.base_url !== undefined && !standard.startsWith(`${provider}/`)
  const fallback = isVerbatim ? bare(standard) : named(standard)
  return (model) => (model === null ? fallback : named(model))
}

/** The two halves of a name that `createNames` made. */
export function splitName(name: string): { provider: RemoteProvider; model: string } {
  const slash = name.indexOf('/')
  const provider = name.slice(0, slash)
  if (!isRemote(provider)) throw new TypeError(`${JSON.stringify(name)} is not the name of a model`)
  return { provider, model: name.slice(slash + 1) }
}

function namesProvider(model: string): boolean {
  if (model === OFFLINE) return true
  const slash = model.indexOf('/')
  return slash > 0 && slash < model.length - 1 && PROVIDERS.has(model.slice(0, slash))
}

/** There is only one offline model. */
const withoutOfflineTail = (name: string): string => (name.startsWith(`${OFFLINE}/`) ? OFFLINE : name)

const isRemote = (name: string): name is RemoteProvider => name !== OFFLINE && PROVIDERS.has(name)
