/** Holds a request against the schemas of its route, and says everything that is wrong with it at once. */
import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../contract/errors.ts'
import { fromText, textKind } from '../contract/from-text.ts'
import { jsonPointer } from '../contract/json-pointer.ts'
import type { Route, RouteInput } from './route.ts'

export interface RawInput {
  params: Record<string, string>
  query: Record<string, string>
  body: unknown
}

export function validate(route: Route, raw: RawInput): RouteInput {
  const problems: ErrorDetail[] = []
  const check = (schema: z.ZodType | undefined, value: unknown, place: string): unknown => {
    if (!schema) return undefined
    const result = schema.safeParse(value, { error: plainWords })
    if (result.success) return result.data
    problems.push(...result.error.issues.flatMap((issue) => toDetails(issue, place)))
    return undefined
  }
  const params = check(route.params, route.params && typed(route.params, raw.params), '/path')
  const query = check(route.query, route.query && typed(route.query, raw.query), '/query')
  const body = check(route.body, raw.body === undefined && route.bodyOptional ? {} : raw.body, '')
  if (problems.length > 0) throw invalidRequest(problems)
  return { params, query, body } as RouteInput
}

/** Paths and queries are text; the schema says what each part of it means. Unknown parts are left out. */
function typed(schema: z.ZodObject, values: Record<string, string>): Record<string, unknown> {
  const known = Object.entries(schema.shape).filter(([name]) => values[name] !== undefined)
  return Object.fromEntries(
    known.map(([name, leaf]) => [name, fromText(textKind(leaf as z.ZodType), values[name] as string)]),
  )
}

/** Zod's messages speak of its types; these speak to whoever wrote the request. */
const plainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is required' : `must be ${kind(issue.expected)}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${unit(issue.origin)}`
  if (issue.code === 'too_small') return `must be at least ${smallest(issue)}${unit(issue.origin)}`
  return undefined
}

const smallest = ({ minimum, inclusive }: { minimum: number | bigint; inclusive?: boolean | undefined }) =>
  Number(minimum) + (inclusive === false ? 1 : 0)

const KINDS: Record<string, string> = {
  int: 'a whole number',
  number: 'a whole number',
  array: 'a list',
  object: 'an object',
  string: 'a text',
  boolean: 'true or false',
}
const kind = (expected: string) => KINDS[expected] ?? expected

const unit = (origin: string) => (origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '')

function toDetails(issue: z.core.$ZodIssue, place: string): ErrorDetail[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ path: place + jsonPointer(issue.path), message: issue.message }]
  }
  return issue.keys.map((key) => ({
    path: place + jsonPointer([...issue.path, key]),
    message: 'is not a known field',
  }))
}

/** Enough to mend a request by; a hostile one gets no longer answer than that. */
const MOST_DETAILS = 20

function invalidRequest(problems: ErrorDetail[]): AppError {
  const details = problems.slice(0, MOST_DETAILS)
  const rest = problems.length - details.length
  const lines = details.map(({ path, message }) => `${placeName(path)} ${message}`)
  const message = `The request is not valid: ${lines.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`
  return new AppError('INVALID_REQUEST', message, { details })
}

const placeName = (path: string) => path.replace(/^\/(path|query)\//, '').replace(/^\//, '') || 'the body'
