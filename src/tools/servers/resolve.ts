/** An entry with its variables filled in, and the secrets that have come together in it on the way. */
import type { Entry } from './entry.ts'
import { httpTarget } from './http-target.ts'
import { argumentSpans, looksSecret, secretSpans } from './secrets/secret-places.ts'
import type { HttpTarget, StdioTarget } from './server-config.ts'
import { stdioTarget } from './stdio-target.ts'
import { expand, type VariableText } from './variables/variable-text.ts'
import type { Variables } from './variables/variables.ts'

export interface Resolved {
  /** Or what is wrong with it; worth nothing when variables are missing. */
  readonly target: StdioTarget | HttpTarget | string
  readonly missing: readonly string[]
  readonly usesVariables: boolean
  readonly secrets: readonly string[]
}

interface Resolution {
  text(text: VariableText): string
  record(texts: Readonly<Record<string, VariableText>>): Record<string, string>
  readonly used: Set<string>
  readonly missing: Set<string>
  readonly secrets: Set<string>
}

export function resolveEntry({ target }: Entry, find: Variables['find'], folder: string): Resolved {
  const resolution = createResolution(find)
  const resolved = target.kind === 'stdio' ? stdio(target, resolution, folder) : http(target, resolution)
  const { missing, secrets, used } = resolution
  return { target: resolved, missing: [...missing], usesVariables: used.size > 0, secrets: [...secrets] }
}

function createResolution(find: Variables['find']): Resolution {
  const used = new Set<string>()
  const missing = new Set<string>()
  const secrets = new Set<string>()

  const fill = (name: string, fallback: string | undefined): string => {
    const found = find(name)
    if (found?.from !== 'built-in') used.add(name)
    const isDefault = fallback !== undefined && !found?.value
    if (!found && !isDefault) missing.add(name)
    const value = (isDefault ? fallback : found?.value) ?? ''
    const isNamed = looksSecret(name) && found?.from !== 'built-in'
    if (isNamed || (found?.from === 'file' && !isDefault)) keep(secrets, value, isNamed)
    return value
  }

  const text = (given: VariableText) => expand(given, fill)
  const record = (texts: Readonly<Record<string, VariableText>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, given]) => [name, text(given)]))
  return { text, record, used, missing, secrets }
}

type StdioEntry = Extract<Entry['target'], { kind: 'stdio' }>
type HttpEntry = Extract<Entry['target'], { kind: 'http' }>

function stdio(entry: StdioEntry, { text, record, secrets }: Resolution, folder: string): StdioTarget | string {
  const command = text(entry.command)
  const args = entry.args.map(text)
  const env = record(entry.env)
  const cwd = entry.cwd ? text(entry.cwd) : ''
  const words = [command, ...args]
  for (const [index, spans] of argumentSpans(words).entries()) {
    for (const { start, end } of spans) keep(secrets, words[index]?.slice(start, end) ?? '', true)
  }
  for (const [name, value] of Object.entries(env)) {
    keepPlaces(secrets, value)
    if (looksSecret(name)) keep(secrets, value, true)
  }
  return stdioTarget({ command, args, env, cwd }, folder)
}

function http(entry: HttpEntry, { text, record, secrets }: Resolution): HttpTarget | string {
  const url = text(entry.url)
  const headers = record(entry.headers)
  keepPlaces(secrets, url)
  const target = httpTarget(url, headers)
  // Of the target, where it is one: what stood in the address may be in a header there.
  for (const [name, value] of Object.entries(typeof target === 'string' ? headers : target.headers)) {
    keep(secrets, value, looksSecret(name))
    keep(secrets, value.replace(/^(?:Bearer|Basic|Token)\s+/i, ''), looksSecret(name))
  }
  return target
}

function keepPlaces(secrets: Set<string>, text: string): void {
  for (const { start, end } of secretSpans(text)) keep(secrets, text.slice(start, end), true)
}

/** `AUTH_ENABLED=true`, `--auth none`: hidden, they would make every other text unreadable. */
const ORDINARY = /^(?:true|false|null|none|auto|default|basic|bearer|oauth2?)$/i

/** The file is where secrets are kept, whichever server they are for. */
export function fileSecrets(variables: Readonly<Record<string, string>>): Set<string> {
  const secrets = new Set<string>()
  for (const [name, value] of Object.entries(variables)) keep(secrets, value, looksSecret(name))
  return secrets
}

/** Short texts are part of too many others; a name that says so makes one a secret earlier. */
function keep(secrets: Set<string>, value: string, isNamed: boolean): void {
  const text = value.trim()
  if (text.length >= (isNamed ? 4 : 6) && !ORDINARY.test(text)) secrets.add(value)
}
