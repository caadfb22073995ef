/** Model objects by name: which package speaks to whom, at which address, with which key. Loaded when first used. */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { maskUrl } from '../config/mask.ts'
import type { Config, ProviderKeys } from '../config/schema.ts'
import { ModelFailure } from './models.ts'
import { type RemoteProvider, splitName } from './names.ts'
import { chooseProvider } from './select.ts'
import { type Fetch, watchedFetch } from './wire.ts'

export interface Endpoint {
  model: LanguageModelV4
  options?: SharedV4ProviderOptions
  /** For messages: `openai`, or `openai-compatible at http://localhost:11434/v1`. */
  who: string
  model_name: string
  key_variable: string
  has_key: boolean
}

interface Access {
  apiKey: string
  fetch: Fetch
}

type OwnProvider = keyof ProviderKeys

const VARIABLES: Readonly<Record<OwnProvider, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_API_KEY',
}

/** Addresses and keys are always given: what is left out, the packages take from the environment. */
const OWN: Readonly<Record<OwnProvider, (model: string, access: Access) => Promise<LanguageModelV4>>> = {
  async openai(model, access) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({ ...access, baseURL: 'https://api.openai.com/v1' }).responses(model)
  },
  async anthropic(model, access) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ ...access, baseURL: 'https://api.anthropic.com/v1' })(model)
  },
  async google(model, access) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ ...access, baseURL: 'https://generativelanguage.googleapis.com/v1beta' })(model)
  },
}

/** A conversation is replayed from our journal, so nothing of it may have to be looked up on the other side. */
const OPTIONS: Partial<Record<OwnProvider, SharedV4ProviderOptions>> = { openai: { openai: { store: false } } }

/** Agents may name any model, so what is kept is bounded. */
const MOST_KEPT = 100

export function createEndpoints({
  ai,
  fetch,
}: {
  ai: Config['ai']
  fetch: Fetch
}): (name: string) => Promise<Endpoint> {
  const kept = new Map<string, Promise<Endpoint>>()
  const parts = { ai, fetch: watchedFetch(fetch) }
  return (name) => {
    const known = kept.get(name)
    if (known) return known
    const made = open(name, parts)
    kept.set(name, made)
    made.catch(() => kept.delete(name))
    const oldest = kept.keys().next().value
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    return made
  }
}

async function open(name: string, { ai, fetch }: { ai: Config['ai']; fetch: Fetch }): Promise<Endpoint> {
  const { provider, model } = splitName(name)
  const keyed = provider === 'openai-compatible' ? 'openai' : provider
  const apiKey = ai.keys[keyed]
  const shared = { model_name: model, key_variable: VARIABLES[keyed], has_key: apiKey !== undefined }
  if (provider === 'openai-compatible' || provider === chooseProvider(ai).provider) {
    if (ai.base_url !== undefined) {
      const who = `${provider} at ${maskUrl(ai.base_url)}`
      return { ...shared, who, model: await compatible({ provider, model, baseURL: ai.base_url, apiKey, fetch }) }
    }
  }
  if (provider === 'openai-compatible') {
    throw new ModelFailure(`${name} has no address: set SVC_AI_BASE_URL`, 1)
  }
  if (apiKey === undefined) throw new ModelFailure(`${name} has no key: set ${VARIABLES[provider]}`, 1)
  const options = OPTIONS[provider]
  return { ...shared, who: provider, model: await OWN[provider](model, { apiKey, fetch }), ...(options && { options }) }
}

interface CompatibleParts {
  provider: RemoteProvider
  model: string
  baseURL: string
  apiKey: string | undefined
  fetch: Fetch
}

async function compatible({ provider, model, baseURL, apiKey, fetch }: CompatibleParts): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const access = { name: provider, baseURL, fetch, includeUsage: true, ...(apiKey !== undefined && { apiKey }) }
  return createOpenAICompatible(access)(model)
}
