// The codes of errors, and that local mode asks nobody who they are nor counts how often they call.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { AppError, ERROR_STATUS, type ErrorCode } from '../../src/contract/errors.ts'
import { type Answer, startApp, type TestApp } from '../support/app.ts'
import { createAgent, JSON_TYPE, outcome, refusal, sendRaw } from '../support/rest-calls.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { proves } from './proves.ts'

const statusOf = (...codes: ErrorCode[]) => codes.map((code) => new AppError(code, 'no').status)

async function fileAgentWithoutFile(app: TestApp): Promise<number> {
  await app.put('default/agents/filed.prompt', 'Help.')
  await app.api('POST', '/environments/default/sync')
  await rm(join(app.home, 'environments/default/agents/filed.prompt'))
  return (await app.api('GET', '/agents?q=filed')).body.data[0].id
}

/** One refusal of every kind that local mode has. */
async function provoked(app: TestApp): Promise<Answer[]> {
  await createAgent(app, { name: 'taken' })
  const filed = await fileAgentWithoutFile(app)
  return [
    await app.api('GET', '/agents?page=0'),
    await app.api('GET', '/agents', undefined, { origin: 'http://evil.test' }),
    await app.api('GET', '/agents/999'),
    await app.api('GET', '/environments/none'),
    await app.api('GET', '/nowhere'),
    await app.api('PATCH', '/agents'),
    await app.api('POST', '/agents', { name: 'taken', prompt: 'x' }),
    await app.api('PUT', `/agents/${filed}`, { description: 'x' }),
    await sendRaw(app, ' '.repeat(1024 * 1024 + 1)),
    await sendRaw(app, '{}', { 'content-type': 'text/plain' }),
  ]
}

proves(
  ['errors.closed', 'errors.request', 'errors.not-found', 'errors.conflict'],
  'every refusal carries a code of the list with its status',
  async () => {
    await using app = await startApp()
    const answers = await provoked(app)
    expect(answers.map(({ status, body }) => [body.error.code, status])).toEqual([
      ['INVALID_REQUEST', 400],
      ['FORBIDDEN', 403],
      ['AGENT_NOT_FOUND', 404],
      ['ENVIRONMENT_NOT_FOUND', 404],
      ['NOT_FOUND', 404],
      ['METHOD_NOT_ALLOWED', 405],
      ['AGENT_EXISTS', 409],
      ['CONFLICT', 409],
      ['PAYLOAD_TOO_LARGE', 413],
      ['UNSUPPORTED_MEDIA_TYPE', 415],
    ])
  },
)

proves('errors.closed', 'the list is closed, and the API document shows exactly it', async () => {
  const codes = [
    ...['INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'INSUFFICIENT_SCOPE', 'AGENT_NOT_FOUND', 'RUN_NOT_FOUND'],
    ...['ENVIRONMENT_NOT_FOUND', 'KEY_NOT_FOUND', 'TOOL_NOT_FOUND', 'NOT_FOUND', 'METHOD_NOT_ALLOWED', 'AGENT_EXISTS'],
    ...['RUN_ALREADY_FINISHED', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'IDEMPOTENCY_KEY_REUSED'],
    ...['RATE_LIMITED', 'QUEUE_FULL', 'INTERNAL_ERROR', 'STORAGE_UNAVAILABLE', 'AUTH_UNAVAILABLE'],
  ].sort()
  expect(Object.keys(ERROR_STATUS).sort()).toEqual(codes)
  await using app = await startApp()
  const { Failure } = (await app.api('GET', '/openapi.json')).body.components.schemas
  expect([...(Failure.properties?.error.properties.code.enum ?? [])].sort()).toEqual(codes)
})

proves('errors.request', 'what is wrong with a request is 400, 405, 413 or 415', () => {
  const codes = ['INVALID_REQUEST', 'METHOD_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const
  expect(statusOf(...codes)).toEqual([400, 405, 413, 415])
})

proves('errors.refused', 'who is not known is 401, who may not is 403', () => {
  expect(statusOf('UNAUTHORIZED', 'FORBIDDEN', 'INSUFFICIENT_SCOPE')).toEqual([401, 403, 403])
})

proves('errors.not-found', 'everything that is not there is 404', () => {
  const records = [
    'AGENT_NOT_FOUND',
    'RUN_NOT_FOUND',
    'ENVIRONMENT_NOT_FOUND',
    'KEY_NOT_FOUND',
    'TOOL_NOT_FOUND',
  ] as const
  expect(new Set(statusOf('NOT_FOUND', ...records))).toEqual(new Set([404]))
})

proves('errors.conflict', 'conflicts are 409, a reused idempotency key is 422', () => {
  const codes = ['AGENT_EXISTS', 'RUN_ALREADY_FINISHED', 'CONFLICT', 'IDEMPOTENCY_KEY_REUSED'] as const
  expect(statusOf(...codes)).toEqual([409, 409, 409, 422])
})

proves('errors.limited', 'too much at once is 429', () => {
  expect(statusOf('RATE_LIMITED', 'QUEUE_FULL')).toEqual([429, 429])
})

proves('errors.server', 'our own failures are 500 and 503, the latter with Retry-After', async () => {
  expect(statusOf('INTERNAL_ERROR', 'STORAGE_UNAVAILABLE', 'AUTH_UNAVAILABLE')).toEqual([500, 503, 503])
  await using app = await startApp()
  const lock = holdDatabase(app)
  try {
    const create = await app.api('POST', '/agents', { name: 'a', prompt: 'b' })
    expect(outcome(create)).toEqual(refusal(503, 'STORAGE_UNAVAILABLE'))
    expect(create.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(await app.api('GET', '/agents')).toMatchObject({ status: 200, body: { data: [] } })
  } finally {
    lock.close()
  }
  await createAgent(app)
})

proves('modes.local-open', 'every route of local mode answers without a credential', async () => {
  await using app = await startApp()
  const { id } = await createAgent(app)
  const calls: [string, string, unknown?][] = [
    ['GET', '/health'],
    ['GET', '/agents'],
    ['GET', `/agents/${id}`],
    ['PUT', `/agents/${id}`, { description: 'x' }],
    ['GET', `/agents/${id}/versions`],
    ['GET', '/environments'],
    ['POST', '/environments/default/sync'],
    ['GET', '/openapi.json'],
    ['DELETE', `/agents/${id}`],
  ]
  for (const [method, path, body] of calls) {
    expect(await app.api(method, path, body), `${method} ${path}`).toMatchObject({ status: 200 })
  }
})

proves('modes.local-mode-alone', 'platform.enabled does not close local mode', async () => {
  await using app = await startApp({ SVC_PLATFORM_ENABLED: 'true' })
  expect((await app.api('GET', '/health')).body.data.mode).toBe('local')
  expect(await app.api('GET', '/agents')).toMatchObject({ status: 200 })
  await createAgent(app)
})

proves('auth.local-ignores', 'any credential, however wrong, changes nothing', async () => {
  await using app = await startApp()
  const credentials = [
    { authorization: 'Bearer wrong' },
    { authorization: 'Basic !!!' },
    { authorization: '' },
    { 'x-api-key': 'svck_1_wrong' },
    { authorization: 'Bearer one', 'x-api-key': 'two' },
    { cookie: 'session=stale' },
  ]
  for (const [index, headers] of credentials.entries()) {
    const body = JSON.stringify({ name: `agent ${index}`, prompt: 'x' })
    expect(await sendRaw(app, body, { ...JSON_TYPE, ...headers })).toMatchObject({ status: 201 })
    expect(await app.api('GET', '/agents', undefined, headers)).toMatchObject({ status: 200 })
  }
})

proves('limits.local-none', '150 requests in a row are all answered, without a word about limits', async () => {
  await using app = await startApp()
  const answers = await Promise.all(Array.from({ length: 150 }, () => app.api('GET', '/agents')))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect([...(answers[149]?.headers.keys() ?? [])].filter((name) => /ratelimit|retry-after/.test(name))).toEqual([])
})
