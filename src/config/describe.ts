/** The resolved configuration for people: every key with its value (secrets masked) and where it came from. */
import { LEAVES } from './leaves.ts'
import type { Origins } from './load.ts'
import { maskValue } from './mask.ts'
import { sourceOf } from './problem.ts'
import type { Config } from './schema.ts'

export interface ConfigRow {
  readonly key: string
  /** null = not set. */
  readonly value: unknown
  /** `flag`, `env SVC_X`, `config.yaml:4` or `default`. */
  readonly source: string
  readonly description: string
}

const PROVIDERS = ['openai', 'anthropic', 'google'] as const

export function describeConfig(config: Config, origins: Origins): ConfigRow[] {
  const settings = LEAVES.map((leaf) => ({
    key: leaf.key,
    value: written(maskValue(leaf, valueAt(config, leaf.path))),
    source: sourceOf(origins.get(leaf.key) ?? { kind: 'default' }),
    description: leaf.description,
  }))
  return [...settings, ...PROVIDERS.map((provider) => providerRow(provider, config, origins))]
}

function providerRow(provider: (typeof PROVIDERS)[number], config: Config, origins: Origins): ConfigRow {
  const key = `ai.keys.${provider}`
  return {
    key,
    value: maskValue({ secret: true }, config.ai.keys[provider]),
    source: sourceOf(origins.get(key) ?? { kind: 'default' }),
    description: `API key of ${provider}, from the environment only`,
  }
}

/** A mapping is shown as its variable would be written. */
function written(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  if (name === undefined || typeof value !== 'object' || value === null) return value
  return valueAt(Object.entries(value).find(([key]) => key === name)?.[1], rest)
}
