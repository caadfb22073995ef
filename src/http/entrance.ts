/** The first thing on every port: the request gets its id, the answer its headers, and web pages are kept out. */
import type { Context } from 'hono'
import type { Guard } from './guard.ts'
import { requestId } from './request-id.ts'

/** Nothing is cached, guessed at, framed or read by another site. */
const SAFE_HEADERS = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
] as const

export interface Entry {
  requestId: string
  /** Why the request goes no further, in words; undefined when it may. */
  refused: string | undefined
}

export function enter(c: Context, guard: Guard): Entry {
  const id = requestId(c.req.header('x-request-id'))
  c.header('X-Request-Id', id)
  for (const [name, value] of SAFE_HEADERS) c.header(name, value)
  return { requestId: id, refused: guard.refusal(c.req.header('host'), c.req.header('origin')) }
}
