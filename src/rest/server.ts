/** Serves routes: Host and Origin, then the route, then the body, then the handler; every answer in the envelope. */
import { type Context, Hono } from 'hono'
import { AppError } from '../contract/errors.ts'
import { answerJson, type HeaderValues } from '../http/answer.ts'
import { callerOf } from '../http/caller.ts'
import { type Entry, enter } from '../http/entrance.ts'
import { type Exchange, fromRequest } from '../http/exchange.ts'
import { failureHeaders, knownFailure } from '../http/failure.ts'
import type { Guard } from '../http/guard.ts'
import { readJsonBody } from '../http/json-body.ts'
import { bindingOf, hangUpWhenStuck } from '../http/node-binding.ts'
import type { Log } from '../telemetry/log.ts'
import { failureBody, successBody } from './envelope.ts'
import { linkHeader } from './link.ts'
import type { Answer, DataAnswer, Route, RouteInput, StreamAnswer } from './route.ts'
import { validate } from './validate.ts'

export const PREFIX = '/api/v1'
/** A reader of a stream that takes nothing for so long is gone, or means harm. */
const MOST_SILENCE_MS = 60_000
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }

export interface ServeOptions {
  guard: Guard
  routes: readonly Route[]
  /** Pages for people, beside the API. */
  pages: Record<string, (c: Context) => Response | Promise<Response>>
  publicUrl: string | undefined
  /** Believe the proxy in front about who calls. */
  trustProxy?: boolean | undefined
  log: Log
}

export function serveRoutes({ guard, routes, pages, publicUrl = '', trustProxy = false, log }: ServeOptions): Hono {
  const app = new Hono()

  for (const route of routes) {
    app.on(route.method, PREFIX + route.path, (c) =>
      guarded(c, async (entry, exchange) => {
        const input = await read(c, route, exchange, entry)
        return send(c, entry, route, input, await route.handle(input))
      }),
    )
  }
  for (const [path, page] of Object.entries(pages)) {
    app.get(path, (c) =>
      guarded(c, async ({ headers }) => {
        for (const [name, value] of Object.entries(headers)) c.header(name, value)
        return page(c)
      }),
    )
  }
  app.notFound((c) => guarded(c, async (entry) => refuseNowhere(c, entry)))

  async function guarded(c: Context, work: (entry: Entry, exchange: Exchange) => Promise<Response>): Promise<Response> {
    const exchange = fromRequest(c.req.raw, c.req.path, bindingOf(c))
    const entry = enter(exchange, guard)
    try {
      if (entry.refused) throw new AppError('FORBIDDEN', `Refused: ${entry.refused}`)
      return await work(entry, exchange)
    } catch (error) {
      return fail(c, entry, knownFailure(error, log, entry.requestId))
    }
  }

  async function read(c: Context, route: Route, exchange: Exchange, { requestId }: Entry): Promise<RouteInput> {
    const sent = route.body && (await readJsonBody(exchange, { optional: route.bodyOptional ?? false }))
    const header = (name: string) => exchange.header(name.toLowerCase())
    const input = validate(route, { params: c.req.param(), query: c.req.query(), header, body: sent })
    const caller = callerOf(exchange, requestId, trustProxy)
    return { ...input, request: { caller, sent, signal: c.req.raw.signal } }
  }

  function send(
    c: Context,
    entry: Entry,
    route: Route,
    input: RouteInput,
    answer: Answer,
  ): Response | Promise<Response> {
    if ('events' in answer) return stream(c, entry, answer)
    return answerJson(c, {
      status: answer.status ?? route.status,
      headers: { ...entry.headers, ...headersOf(c, input, answer) },
      body: route.bare ? answer.data : successBody(answer),
    })
  }

  const headersOf = (c: Context, input: RouteInput, { location, page, headers }: DataAnswer): HeaderValues => ({
    ...headers,
    ...(location ? { Location: publicUrl + PREFIX + location } : {}),
    ...(page ? { Link: linkHeader(publicUrl + c.req.path, input.query, page) } : {}),
  })

  function refuseNowhere(c: Context, entry: Entry): Response {
    const allowed = Object.hasOwn(pages, c.req.path) ? ['GET', 'HEAD'] : methodsAt(routes, c.req.path)
    if (allowed.length === 0) throw new AppError('NOT_FOUND', `Nothing is served at ${c.req.path}`)
    const error = new AppError('METHOD_NOT_ALLOWED', `This path answers ${allowed.join(', ')}`)
    return fail(c, entry, error, { Allow: allowed.join(', ') })
  }
  return app
}

function fail(c: Context, { headers, requestId }: Entry, error: AppError, more: HeaderValues = {}): Response {
  return answerJson(c, {
    status: error.status,
    headers: { ...headers, ...failureHeaders(error), ...more },
    body: failureBody(error, requestId),
  })
}

async function stream(c: Context, entry: Entry, { events }: StreamAnswer): Promise<Response> {
  const headers = { ...entry.headers, ...STREAM_HEADERS }
  if (c.req.method === 'HEAD') {
    await events.cancel()
    return new Response(null, { headers })
  }
  hangUpWhenStuck(c, MOST_SILENCE_MS)
  return new Response(events, { headers })
}

function methodsAt(routes: readonly Route[], path: string): string[] {
  const segments = path.split('/')
  const matches = ({ path }: Route) => {
    const pattern = (PREFIX + path).split('/')
    return (
      pattern.length === segments.length &&
      pattern.every((part, i) => (part.startsWith(':') ? segments[i] !== '' : part === segments[i]))
    )
  }
  return routes.filter(matches).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}
