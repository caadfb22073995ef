/** Serves routes: Host and Origin, then the route, then the body, then the handler; every answer in the envelope. */
import { type Context, Hono } from 'hono'
import { AppError } from '../contract/errors.ts'
import { enter } from '../http/entrance.ts'
import type { Guard } from '../http/guard.ts'
import { readJsonBody } from '../http/json-body.ts'
import type { Log } from '../telemetry/log.ts'
import { failureBody, successBody } from './envelope.ts'
import { linkHeader } from './link.ts'
import type { Answer, Route, RouteInput } from './route.ts'
import { validate } from './validate.ts'

export const PREFIX = '/api/v1'

type Env = { Variables: { requestId: string } }
type RestContext = Context<Env>
export type RestApp = Hono<Env>

export interface ServeOptions {
  guard: Guard
  routes: readonly Route[]
  /** Pages for people, beside the API. */
  pages: Record<string, (c: Context) => Response | Promise<Response>>
  publicUrl: string | undefined
  log: Log
}

export function serveRoutes({ guard, routes, pages, publicUrl = '', log }: ServeOptions): RestApp {
  const app = new Hono<Env>()

  app.use(async (c, next) => {
    const { requestId, refused } = enter(c, guard)
    c.set('requestId', requestId)
    if (refused) throw new AppError('FORBIDDEN', `Refused: ${refused}`)
    await next()
  })

  for (const route of routes) {
    app.on(route.method, PREFIX + route.path, async (c) => {
      const body = route.body && (await readJsonBody(c.req.raw, { optional: route.bodyOptional ?? false }))
      const input = validate(route, { params: c.req.param(), query: c.req.query(), body })
      return send(c, route, input, await route.handle(input))
    })
  }
  for (const [path, page] of Object.entries(pages)) app.get(path, page)

  function send(c: RestContext, route: Route, input: RouteInput, answer: Answer): Response {
    if (answer.location) c.header('Location', publicUrl + PREFIX + answer.location)
    if (answer.page) c.header('Link', linkHeader(publicUrl + c.req.path, input.query, answer.page))
    return c.json(route.bare ? (answer.data as object) : successBody(answer), route.status)
  }

  function fail(c: RestContext, error: AppError): Response {
    if (error.code === 'STORAGE_UNAVAILABLE') c.header('Retry-After', '1')
    return c.json(failureBody(error, c.get('requestId')), error.status)
  }

  app.notFound((c) => {
    const allowed = Object.hasOwn(pages, c.req.path) ? ['GET', 'HEAD'] : methodsAt(routes, c.req.path)
    if (allowed.length === 0) return fail(c, new AppError('NOT_FOUND', `Nothing is served at ${c.req.path}`))
    c.header('Allow', allowed.join(', '))
    return fail(c, new AppError('METHOD_NOT_ALLOWED', `This path answers ${allowed.join(', ')}`))
  })

  app.onError((error, c) => {
    const known =
      error instanceof AppError ? error : new AppError('INTERNAL_ERROR', 'The request failed', { cause: error })
    if (known.status >= 500) log.error({ err: known.cause ?? known, request_id: c.get('requestId') }, known.message)
    return fail(c, known)
  })
  return app
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
