/**
 * What a port outside the REST API is made of: `/health` and routes as data, with errors as `{error, message}`.
 * A route is checked in this order: is it on, the method, Host and Origin, then whatever the route itself asks for.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../contract/errors.ts'
import type { Log } from '../telemetry/log.ts'
import { type HeaderValues, type JsonAnswer, toResponse, writeJson } from './answer.ts'
import { type Entry, enter } from './entrance.ts'
import { type Exchange, fromConnection, fromRequest } from './exchange.ts'
import { failureHeaders, knownFailure } from './failure.ts'
import type { Guard } from './guard.ts'
import type { NodeBinding } from './node-binding.ts'

export interface PlainRoute {
  path: string
  methods: readonly string[]
  /** Why nothing is there, for anybody; undefined when it is on. */
  off?: string | undefined
  /** Throws AppError to refuse. */
  handle(exchange: Exchange, requestId: string): Promise<PlainAnswer>
}

interface PlainAnswer {
  status: number
  body: unknown
  /** Beyond those that every answer has. */
  headers?: HeaderValues
}

export interface PlainApp {
  fetch(request: Request, binding?: NodeBinding): Promise<Response>
  /** Answers straight into the connection what it has a route for; false leaves the request to `fetch`. */
  direct(incoming: IncomingMessage, outgoing: ServerResponse): boolean
}

export interface PlainParts {
  guard: Guard
  /** Rejects when the service cannot do its work. */
  status: () => Promise<'ok' | 'degraded'>
  routes?: readonly PlainRoute[]
  log: Log
}

export function createPlainApp({ guard, status, routes = [], log }: PlainParts): PlainApp {
  const byPath = new Map([healthRoute(status), ...routes].map((route) => [route.path, route]))

  async function serve(exchange: Exchange, route: PlainRoute): Promise<JsonAnswer> {
    const entry = enter(exchange, guard)
    try {
      if (route.off) throw new AppError('NOT_FOUND', route.off)
      if (!route.methods.includes(exchange.method)) throw wrongMethod(route)
      if (entry.refused) throw new AppError('FORBIDDEN', entry.refused)
      const { status, body, headers } = await route.handle(exchange, entry.requestId)
      return { status, body, headers: { ...entry.headers, ...headers } }
    } catch (error) {
      return refusal(entry, route, knownFailure(error, log, entry.requestId))
    }
  }

  return {
    async fetch(request, binding) {
      const exchange = fromRequest(request, new URL(request.url).pathname, binding)
      const response = toResponse(await serve(exchange, byPath.get(exchange.path) ?? nowhere(exchange)))
      return request.method === 'HEAD' ? new Response(null, response) : response
    },
    direct(incoming, outgoing) {
      const path = plainPath(incoming.url ?? '')
      const route = byPath.get(path)
      if (!route) return false
      serve(fromConnection(incoming, path), route)
        .then((answer) => writeJson(outgoing, answer))
        .catch((error) => outgoing.destroy(error))
      return true
    },
  }
}

/** Any other way to write a path is for those who know all of them. */
const plainPath = (url: string): string => url.split('?', 1)[0] ?? ''

const healthRoute = (status: PlainParts['status']): PlainRoute => ({
  path: '/health',
  methods: ['GET', 'HEAD'],
  handle: async () => ({ status: 200, body: { status: await status() } }),
})

/** Takes every method, so that strangers are refused before they learn which paths there are. */
const nowhere = ({ path, method }: Exchange): PlainRoute => ({
  path,
  methods: [method],
  handle: () => Promise.reject(new AppError('NOT_FOUND', `nothing is served at ${path}`)),
})

const wrongMethod = ({ methods }: PlainRoute) =>
  new AppError('METHOD_NOT_ALLOWED', `this path answers ${methods.join(', ')}`)

function refusal({ headers }: Entry, { methods }: PlainRoute, error: AppError): JsonAnswer {
  const allow = error.code === 'METHOD_NOT_ALLOWED' ? { Allow: methods.join(', ') } : {}
  return {
    status: error.status,
    headers: { ...headers, ...failureHeaders(error), ...allow },
    body: { error: words(error.code), message: error.message },
  }
}

const words = (code: string) => code.toLowerCase().replaceAll('_', ' ')
