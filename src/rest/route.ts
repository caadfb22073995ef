/**
 * A route as data: what it takes, what it answers, who may call it. The app, the validation and the OpenAPI
 * document are all made from these, so none of them can say something else than the others.
 */
import type { z } from 'zod'
import type { ErrorCode } from '../contract/errors.ts'
import type { PageRequest } from '../contract/page.ts'

/** What a caller must be allowed to do; `public` needs no credential in any mode. */
type Scope = 'public' | 'read' | 'write' | 'execute' | 'admin'

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /api/v1, with `:name` for parameters. */
  path: string
  scope: Scope
  tag: string
  /** Becomes operationId. */
  name: string
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** The body may be left out; the handler then gets the schema's defaults. */
  bodyOptional?: boolean
  status: 200 | 201 | 202
  /** The schema of `data`; of one item when the answer is a list. */
  answers: z.ZodType
  list?: boolean
  /** A document of its own: answered without the envelope. */
  bare?: boolean
  /** The codes beyond those that every route can answer. */
  errors: readonly ErrorCode[]
  handle(input: RouteInput): Promise<Answer>
}

export interface RouteInput {
  // Validated by the schemas of the route before the handler sees it; `route` below gives it its type.
  params: never
  query: never
  body: never
}

export interface Answer {
  data: unknown
  /** For lists: which page this is, and how much there is in all. */
  page?: PageRequest & { total: number }
  location?: string
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

interface TypedRoute<P, Q, B> extends Omit<Route, 'params' | 'query' | 'body' | 'handle'> {
  params?: P
  query?: Q
  body?: B
  handle(input: { params: Output<P>; query: Output<Q>; body: Output<B> }): Promise<Answer>
}

/** Gives a handler the types of its own schemas. */
export const route = <
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: TypedRoute<P, Q, B>,
): Route => definition as Route
