/** What flags and variables say, the provider keys, and a warning for each SVC_ variable that nobody reads. */
import { fromText } from '../contract/from-text.ts'
import type { Env } from './home.ts'
import { envName, LEAVES, type Leaf } from './leaves.ts'
import { didYouMean, nearest } from './nearest.ts'
import type { Given } from './problem.ts'
import type { ProviderKeys } from './schema.ts'

/** Texts as given on the command line: `home`, and keys such as `api.port`. */
export type Flags = Readonly<Record<string, string | undefined>>

/** Read by other parts of the program: the home itself, and what the client commands talk to. */
const OTHER_VARIABLES = ['SVC_HOME', 'SVC_API_URL', 'SVC_API_KEY']

const PROVIDER_VARIABLES = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
} as const

export function fromFlags(flags: Flags): Given[] {
  return LEAVES.flatMap((leaf) => {
    const text = flags[leaf.key]
    if (text === undefined) return []
    return [{ leaf, value: typedValue(leaf, text), origin: { kind: 'flag', name: leaf.flag ?? leaf.key } }]
  })
}

export function fromEnv(env: Env): Given[] {
  return LEAVES.flatMap((leaf) => {
    const text = env[leaf.env]
    if (text === undefined) return []
    return [{ leaf, value: typedValue(leaf, text), origin: { kind: 'env', name: leaf.env } }]
  })
}

/** Blanks around a number or a switch mean nothing; in a text they may. */
function typedValue({ kind }: Leaf, text: string): unknown {
  return fromText(kind, kind === 'text' ? text : text.trim())
}

export interface ProviderKey {
  readonly provider: keyof ProviderKeys
  readonly variable: string
  readonly value: string
}

export function providerKeys(env: Env): ProviderKey[] {
  return Object.entries(PROVIDER_VARIABLES).flatMap(([name, variables]) => {
    const provider = name as keyof ProviderKeys
    const variable = variables.find((candidate) => env[candidate]?.trim())
    const value = variable && env[variable]?.trim()
    return variable && value ? [{ provider, variable, value }] : []
  })
}

export function unknownVariables(env: Env): string[] {
  const known = new Set([...LEAVES.map((leaf) => leaf.env), ...OTHER_VARIABLES])
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && env[name] !== '' && !known.has(name))
    .sort()
    .map((name) => `unknown variable ${name} is ignored${didYouMean(nearestVariable(name, known))}`)
}

function nearestVariable(name: string, known: ReadonlySet<string>): string | undefined {
  const renamed = LEAVES.find((leaf) => envName(leaf.key) === name)
  return renamed?.env ?? nearest(name, known)
}
