/** Holds a request against the schemas of its route, and says everything that is wrong with it at once. */
import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../contract/errors.ts'
import { fromText, textKind } from '../contract/from-text.ts'
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

const plainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required'
  if (issue.code === 'invalid_type') return `must be ${article(issue.expected)}`
  return undefined
}

const article = (expected: string) => {
  const name = { int: 'whole number', array: 'list', record: 'object' }[expected] ?? expected
  return /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`
}

function toDetails(issue: z.core.$ZodIssue, place: string): ErrorDetail[] {
  const path = place + issue.path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({ path: `${path}/${key}`, message: 'is not a known field' }))
}

function invalidRequest(problems: ErrorDetail[]): AppError {
  const summary = problems.map(
    ({ path, message }) => `${path.replace(/^\/(path|query)\//, '').replace(/^\//, '') || 'the body'} ${message}`,
  )
  return new AppError('INVALID_REQUEST', `The request is not valid: ${summary.join('; ')}`, { details: problems })
}
