/** What a port outside the REST API starts from: the guard, `/health`, and errors as `{error, message}`. */
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError } from '../contract/errors.ts'
import type { Log } from '../telemetry/log.ts'
import { enter } from './entrance.ts'
import type { Guard } from './guard.ts'

export interface PlainParts {
  guard: Guard
  /** Rejects when the service cannot do its work. */
  status: () => Promise<'ok' | 'degraded'>
  log: Log
}

export function createPlainApp({ guard, status, log }: PlainParts): Hono {
  const app = new Hono()

  app.use(async (c, next) => {
    const { refused } = enter(c, guard)
    if (refused) return refuse(c, 403, 'forbidden', refused)
    return next()
  })

  app.get('/health', async (c) => c.json({ status: await status() }))

  app.notFound((c) => {
    if (c.req.path === '/health') {
      c.header('Allow', 'GET, HEAD')
      return refuse(c, 405, 'method not allowed', 'this path answers GET')
    }
    return refuse(c, 404, 'not found', `nothing is served at ${c.req.path}`)
  })

  app.onError((error, c) => {
    if (error instanceof AppError) return refuse(c, error.status, words(error.code), error.message)
    log.error({ err: error, path: c.req.path }, 'a request failed')
    return refuse(c, 500, 'internal error', 'the request failed; the log has the details')
  })
  return app
}

const refuse = (c: Context, status: ContentfulStatusCode, error: string, message: string) =>
  c.json({ error, message }, status)

const words = (code: string) => code.toLowerCase().replaceAll('_', ' ')
