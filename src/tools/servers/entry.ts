/** One entry of a server file, checked: what other MCP clients write there is understood or passed over. */
import { z } from 'zod'
import { didYouMean } from '../../config/nearest.ts'
import type { ServerPromises } from '../repeat-policy.ts'
import { mistypedKey } from './mistyped-key.ts'
import { transportMistake } from './transport-name.ts'
import { parseVariableText, type VariableText } from './variables/variable-text.ts'

/** An entry with its variables still in it. */
export interface Entry extends ServerPromises {
  readonly target: StdioEntry | HttpEntry
  readonly timeout_ms: number
  readonly connect_timeout_ms: number
  readonly disabled: boolean
}

interface StdioEntry {
  readonly kind: 'stdio'
  readonly command: VariableText
  readonly args: readonly VariableText[]
  readonly env: Readonly<Record<string, VariableText>>
  readonly cwd: VariableText | undefined
}

interface HttpEntry {
  readonly kind: 'http'
  readonly url: VariableText
  readonly headers: Readonly<Record<string, VariableText>>
}

const NO_VARIABLE = 'has a "${" that begins no variable, such as ${NAME} or ${NAME:-default}; a literal one is "$${"'

function withVariables(value: string | number | boolean, context: z.RefinementCtx): VariableText {
  const text = parseVariableText(String(value))
  if (!text) context.addIssue(NO_VARIABLE)
  return text ?? []
}

const text = () => z.string({ error: 'must be text' }).min(1, 'must not be empty').transform(withVariables)
const value = () =>
  z
    .union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, true or false' })
    .transform(withVariables)
const values = () => z.record(z.string(), value(), { error: 'must be an object of names and values' }).optional()
const toggle = () => z.boolean({ error: 'must be true or false' }).optional()

function seconds(max: number, usual: number) {
  const error = `must be a number from 1 to ${max}`
  return z
    .number({ error })
    .min(1, { error })
    .max(max, { error })
    .default(usual)
    .transform((count) => Math.round(count * 1000))
}

const schema = z.object(
  {
    command: text().optional(),
    args: z.array(value(), { error: 'must be a list' }).optional(),
    env: values(),
    cwd: text().optional(),
    url: text().optional(),
    headers: values(),
    type: z.string({ error: 'must be text' }).optional(),
    transport: z.string({ error: 'must be text' }).optional(),
    timeout_seconds: seconds(3600, 60),
    connect_timeout_seconds: seconds(600, 20),
    retry: z.enum(['safe', 'never'], { error: 'must be "safe" or "never"' }).optional(),
    trusted: toggle(),
    disabled: toggle(),
    /** As some other clients say it. */
    enabled: toggle(),
  },
  { error: 'must be an object with a "command" or a "url"' },
)

type Fields = z.output<typeof schema>

const KEYS = Object.keys(schema.shape)
/** What only one of the two kinds takes. */
const ONLY = { command: ['args', 'env', 'cwd'], url: ['headers'] } as const

/** The entry, or what is wrong with it, without quoting a value. */
export function checkEntry(given: unknown): Entry | string {
  const mistyped = mistypedKey(given, KEYS)
  if (mistyped) return `unknown key ${JSON.stringify(mistyped.key)}${didYouMean(mistyped.meant)}`
  const checked = schema.safeParse(given)
  if (!checked.success) return inWords(checked.error)
  return mistakeIn(checked.data) ?? toEntry(checked.data)
}

function inWords({ issues: [issue] }: z.ZodError): string {
  const [key, inner] = issue?.path ?? []
  const where = typeof inner === 'number' ? `${String(key)}[${inner}]` : nameOf(key, inner)
  return `${where}${where && ' '}${issue?.message ?? 'is wrong'}`
}

/** A name that is none may be a whole header, with its secret. */
function nameOf(key: PropertyKey | undefined, inner: PropertyKey | undefined): string {
  if (key === undefined) return ''
  return typeof inner === 'string' && /^\w[\w-]{0,63}$/.test(inner) ? `${String(key)}.${inner}` : String(key)
}

function mistakeIn(fields: Fields): string | undefined {
  const { command, url } = fields
  if (command && url) return 'has both "command" and "url"; a server has one of them'
  if (!command && !url) return 'has neither "command" nor "url"'
  const [kind, other] = command ? (['command', 'url'] as const) : (['url', 'command'] as const)
  const stray = ONLY[other].find((key) => fields[key] !== undefined)
  if (stray) return `${stray} belongs to a server with a "${other}", and this one has a "${kind}"`
  return transportMistake('type', fields.type, kind) ?? transportMistake('transport', fields.transport, kind)
}

function toEntry(fields: Fields): Entry {
  const { command, args = [], env = {}, cwd, url = [], headers = {}, retry, trusted } = fields
  return {
    target: command ? { kind: 'stdio', command, args, env, cwd } : { kind: 'http', url, headers },
    timeout_ms: fields.timeout_seconds,
    connect_timeout_ms: fields.connect_timeout_seconds,
    disabled: fields.disabled ?? fields.enabled === false,
    ...(retry && { retry }),
    ...(trusted !== undefined && { trusted }),
  }
}
