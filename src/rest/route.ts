/**
 * A route as data: what it takes, what it answers, who may call it. The app, the validation and the OpenAPI
 * document are all made from these, so none of them can say something else than the others.
 */
import type { z } from 'zod'
import type { ErrorCode } from '../contract/errors.ts'
import type { PageRequest } from '../contract/page.ts'
import type { HeaderValues } from '../http/answer.ts'
import type { Caller } from '../http/caller.ts'

/** What a caller must be allowed to do; `public` needs no credential in any mode. */
type Scope = 'public' | 'read' | 'write' | 'execute' | 'admin'
type Status = 200 | 201 | 202

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
  /** By the names that people write, such as Idempotency-Key. */
  headers?: z.ZodObject
  body?: z.ZodType
  /** The body may be left out; the handler then gets the schema's defaults. */
  bodyOptional?: boolean
  status: Status
  /** The schema of `data`; of one item when the answer is a list. */
  answers: z.ZodType
  /** What a success may be as well, with another status. */
  orElse?: { status: Status; answers: z.ZodType }
  list?: boolean
  /** A document of its own: answered without the envelope. */
  bare?: boolean
  /** Server-sent events: text without an envelope, which ends when there is nothing more to tell. */
  streams?: boolean
  /** The codes beyond those that every route can answer. */
  errors: readonly ErrorCode[]
  handle(input: RouteInput): Promise<Answer>
}

/** What a handler may know about the request beyond its content. */
interface RequestFacts {
  caller: Caller
  /** The body as it was sent, before defaults. */
  sent: unknown
  /** Aborts when the client goes away before it has its answer. */
  signal: AbortSignal
}

export interface RouteInput {
  // Validated by the schemas of the route before the handler sees it; `route` below gives it its type.
  params: never
  query: never
  headers: never
  body: never
  request: RequestFacts
}

export type Answer = DataAnswer | StreamAnswer

export interface DataAnswer {
  data: unknown
  /** Where it is not the status of the route. */
  status?: Status
  /** For lists: which page this is, and how much there is in all. */
  page?: PageRequest & { total: number }
  location?: string
  headers?: HeaderValues
}

export interface StreamAnswer {
  events: ReadableStream<Uint8Array>
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

interface TypedInput<P, Q, H, B> {
  params: Output<P>
  query: Output<Q>
  headers: Output<H>
  body: Output<B>
  request: RequestFacts
}

interface TypedRoute<P, Q, H, B> extends Omit<Route, 'params' | 'query' | 'headers' | 'body' | 'handle'> {
  params?: P
  query?: Q
  headers?: H
  body?: B
  handle(input: TypedInput<P, Q, H, B>): Promise<Answer>
}

/** Gives a handler the types of its own schemas. */
export const route = <
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  H extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: TypedRoute<P, Q, H, B>,
): Route => definition as Route
