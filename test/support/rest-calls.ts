// Calls that a friendly client never makes: bodies and headers exactly as given, and what a refusal looks like.
import { expect } from 'vitest'
import type { Answer, TestApp } from './app.ts'

export const API = 'http://localhost:8585/api/v1'
export const JSON_TYPE = { 'content-type': 'application/json' }

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/** Sends these bytes with these headers and nothing added but the Host. */
export async function sendRaw(
  app: TestApp,
  body: Body,
  headers: Record<string, string> = JSON_TYPE,
  { method = 'POST', path = '/agents' }: { method?: string; path?: string } = {},
): Promise<Answer> {
  const all = new Headers({ host: 'localhost:8585', ...headers })
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const request = new Request(`${API}${path}`, { method, body: bytes, headers: all, duplex: 'half' })
  const response = await app.fetch('api', request)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** What an answer that says no is equal to. */
export const refusal = (status: number, code: string) => ({
  status,
  body: {
    success: false,
    data: null,
    error: expect.objectContaining({ code, message: expect.stringMatching(/\S/), request_id: expect.any(String) }),
  },
})

/** Status and body, without the headers. */
export const outcome = ({ status, body }: Answer) => ({ status, body })

export async function createAgent(app: TestApp, fields: Record<string, unknown> = {}) {
  const answer = await app.api('POST', '/agents', { name: 'helper', prompt: 'Help.', ...fields })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body.data
}

export const total = async (app: TestApp): Promise<number> =>
  (await app.api('GET', '/agents')).body.pagination.total as number
