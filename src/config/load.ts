/** Flags, variables, config.yaml and defaults, in this order, into one frozen Config, or all that is wrong at once. */
import { z } from 'zod'
import { type Flags, fromEnv, fromFlags, type ProviderKey, providerKeys, unknownVariables } from './environment.ts'
import { readConfigFile } from './file.ts'
import { type Env, findHome } from './home.ts'
import { LEAVES, type Leaf } from './leaves.ts'
import { echo } from './mask.ts'
import { ConfigError, type Given, type Origin, type Problem, placeOf } from './problem.ts'
import { brokenRules } from './rules.ts'
import { type Config, configSchema } from './schema.ts'

export type Origins = ReadonlyMap<string, Origin>

export interface LoadOptions {
  readonly flags?: Flags
  readonly env?: Env
  readonly cwd?: string
}

export interface LoadedConfig {
  readonly config: Config
  readonly origins: Origins
  /** Unknown SVC_ variables, in words. */
  readonly warnings: readonly string[]
}

/** npm runs scripts in the package's folder and tells in INIT_CWD where the person is. */
const whereThePersonIs = () => process.env.INIT_CWD ?? process.cwd()

export function loadConfig({
  flags = {},
  env = process.env,
  cwd = whereThePersonIs(),
}: LoadOptions = {}): LoadedConfig {
  const home = findHome({ flag: flags.home, env, cwd })
  const file = readConfigFile(home)
  const settled = settle([...fromFlags(flags), ...fromEnv(env), ...file.given])
  const problems = [...file.problems, ...settled.problems, ...brokenRules(settled)]
  if (problems.length > 0) throw new ConfigError(problems, home)
  const keys = providerKeys(env)
  for (const key of keys) settled.origins.set(`ai.keys.${key.provider}`, { kind: 'env', name: key.variable })
  const config = deepFreeze({ ...assemble(settled.values, keys), home, env: defined(env) })
  return { config, origins: settled.origins, warnings: unknownVariables(env) }
}

interface Settling {
  readonly values: Map<string, unknown>
  readonly origins: Map<string, Origin>
  readonly problems: Problem[]
}

/** Every value is checked, also one that a stronger source hides: it would bite on the day that source goes. */
function settle(given: readonly Given[]): Settling {
  const settling: Settling = { values: new Map(), origins: new Map(), problems: [] }
  for (const one of given) settleOne(one, settling)
  const wrong = new Set(settling.problems.map((problem) => problem.key))
  for (const leaf of LEAVES) if (!wrong.has(leaf.key)) settleDefault(leaf, settling)
  return settling
}

function settleOne({ leaf, value, origin }: Given, { values, origins, problems }: Settling): void {
  const problem = (message: string) =>
    problems.push({ key: leaf.key, place: placeOf(origin, leaf.key), message: `${leaf.key} ${message}` })
  if (isEmpty(value)) {
    if (leaf.refuseEmpty) problem('must not be empty; leave it out for none')
    return
  }
  const checked = leaf.schema.safeParse(value)
  if (!checked.success) problem(`${checked.error.issues[0]?.message ?? 'is wrong'}${echo(leaf, value)}`)
  else if (!values.has(leaf.key)) {
    values.set(leaf.key, checked.data)
    origins.set(leaf.key, origin)
  }
}

function settleDefault(leaf: Leaf, { values, origins }: Settling): void {
  if (values.has(leaf.key)) return
  values.set(leaf.key, leaf.schema.parse(undefined))
  origins.set(leaf.key, { kind: 'default' })
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '')
}

function assemble(values: ReadonlyMap<string, unknown>, keys: readonly ProviderKey[]): Omit<Config, 'home' | 'env'> {
  const settings = configSchema.parse(nest(configSchema, '', values))
  const byProvider = Object.fromEntries(keys.map((key) => [key.provider, key.value]))
  return { ...settings, ai: { ...settings.ai, keys: byProvider } }
}

function defined(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])))
}

function nest(group: z.ZodObject, prefix: string, values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(group.shape).map(([name, child]) => {
    const key = `${prefix}${name}`
    return [name, child instanceof z.ZodObject ? nest(child, `${key}.`, values) : values.get(key)] as const
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) if (typeof child === 'object' && child !== null) deepFreeze(child)
  return Object.freeze(value)
}
