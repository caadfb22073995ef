/** Holds a value against a schema and says everything that is wrong with it at once, in the words of whoever wrote it. */
import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../contract/errors.ts'
import { jsonPointer } from '../contract/json-pointer.ts'

/** The checked value, or undefined and one more problem for each thing that is wrong. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
  problems: ErrorDetail[],
): z.output<Schema> | undefined {
  const result = schema.safeParse(value, IN_PLAIN_WORDS)
  if (result.success) return result.data
  problems.push(...result.error.issues.flatMap((issue) => toDetails(issue, place)))
  return undefined
}

/** Zod's messages speak of its types; these speak to whoever wrote the request. */
const plainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is required' : `must be ${kind(issue.expected)}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${unit(issue.origin)}`
  if (issue.code === 'too_small') return `must be at least ${smallest(issue)}${unit(issue.origin)}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  return undefined
}
const IN_PLAIN_WORDS = { error: plainWords }

const smallest = ({ minimum, inclusive }: { minimum: number | bigint; inclusive?: boolean | undefined }) =>
  Number(minimum) + (inclusive === false ? 1 : 0)

const KINDS: Record<string, string> = {
  int: 'a whole number',
  number: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
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

export function refuseProblems(problems: readonly ErrorDetail[]): void {
  if (problems.length === 0) return
  const details = problems.slice(0, MOST_DETAILS)
  const rest = problems.length - details.length
  const lines = details.map(({ path, message }) => `${placeName(path)} ${message}`)
  const message = `The request is not valid: ${lines.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`
  throw new AppError('INVALID_REQUEST', message, { details })
}

const placeName = (path: string) => path.replace(/^\/(path|query|header)\//, '').replace(/^\//, '') || 'the body'
