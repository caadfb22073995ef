/** How a finished answer leaves: straight into the connection, where there is one. A Response in between doubles its cost. */
import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import { bindingOf } from './node-binding.ts'

export type HeaderValues = Readonly<Record<string, string>>

export interface JsonAnswer {
  status: number
  headers: HeaderValues
  body: unknown
}

export function answerJson(c: Context, answer: JsonAnswer): Response {
  const outgoing = bindingOf(c)?.outgoing
  if (!outgoing) return toResponse(answer)
  writeJson(outgoing, answer)
  return RESPONSE_ALREADY_SENT
}

export const toResponse = ({ status, headers, body }: JsonAnswer): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...headers, ...JSON_TYPE } })

export function writeJson(outgoing: ServerResponse, { status, headers, body }: JsonAnswer): void {
  const text = JSON.stringify(body)
  outgoing.writeHead(status, { ...headers, ...JSON_TYPE, 'Content-Length': Buffer.byteLength(text) }).end(text)
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
