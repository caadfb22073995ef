/** Holds a request against the schemas of its route, and says everything that is wrong with it at once. */
import type { z } from 'zod'
import type { ErrorDetail } from '../contract/errors.ts'
import { fromText, textKind } from '../contract/from-text.ts'
import { check, refuseProblems } from '../http/problems.ts'
import type { Route, RouteInput } from './route.ts'

export interface RawInput {
  params: Record<string, string>
  query: Record<string, string>
  header: (name: string) => string | undefined
  body: unknown
}

export function validate(route: Route, raw: RawInput): Omit<RouteInput, 'request'> {
  const problems: ErrorDetail[] = []
  const checkText = (schema: z.ZodObject | undefined, place: string, textOf: (name: string) => string | undefined) =>
    schema && check(schema, typed(schema, textOf), place, problems)
  const params = checkText(route.params, '/path', (name) => raw.params[name])
  const query = checkText(route.query, '/query', (name) => raw.query[name])
  const headers = checkText(route.headers, '/header', raw.header)
  const sent = raw.body === undefined && route.bodyOptional ? {} : raw.body
  const body = route.body && check(route.body, sent, '', problems)
  refuseProblems(problems)
  return { params, query, headers, body } as Omit<RouteInput, 'request'>
}

/** Paths, queries and headers are text; the schema says what each part of it means. Unknown parts are left out. */
function typed(schema: z.ZodObject, textOf: (name: string) => string | undefined): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, leaf] of Object.entries(schema.shape)) {
    const text = textOf(name)
    if (text !== undefined) values[name] = fromText(textKind(leaf as z.ZodType), text)
  }
  return values
}
