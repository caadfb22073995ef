// Calls of the webhook in process: bodies and headers exactly as given, and what a refusal looks like.
import { expect } from 'vitest'
import type { Answer, TestApp } from './app.ts'

interface Call {
  method?: string
  headers?: Record<string, string>
}

const HEADERS = { host: 'localhost:8587', 'content-type': 'application/json' }

/** A text goes out as it is, anything else as JSON. A header set to '' by a test is sent empty. */
export async function execute(app: TestApp, body: unknown, { method = 'POST', headers = {} }: Call = {}) {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const request = new Request('http://localhost:8587/execute', {
    method,
    headers: { ...HEADERS, ...headers },
    ...(text === undefined ? {} : { body: text }),
  })
  const response = await app.fetch('agents', request)
  const answered = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: answered === '' ? undefined : JSON.parse(answered),
  } satisfies Answer
}

/** Status and body of a call that says no, to compare with `said`. */
export const no = (status: number, error: string, message: RegExp = /\S/) => ({
  status,
  body: { error, message: expect.stringMatching(message) },
})

export const said = ({ status, body }: Answer) => ({ status, body })

export const countRuns = async (app: TestApp): Promise<number> =>
  (await app.api('GET', '/runs')).body.pagination.total as number
