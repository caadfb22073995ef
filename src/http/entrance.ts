/** The first thing on every port: the request gets its id, the answer its headers, and web pages are kept out. */
import type { HeaderValues } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Guard } from './guard.ts'
import { requestId } from './request-id.ts'

/** Nothing is cached, guessed at, framed or read by another site. */
const SAFE_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

export interface Entry {
  requestId: string
  /** What every answer to this request carries. */
  headers: HeaderValues
  /** Why the request goes no further, in words; undefined when it may. */
  refused: string | undefined
}

export function enter({ header }: Exchange, guard: Guard): Entry {
  const id = requestId(header('x-request-id'))
  return {
    requestId: id,
    headers: { ...SAFE_HEADERS, 'X-Request-Id': id },
    refused: guard.refusal(header('host'), header('origin')),
  }
}
