// The webhook's refusals: their shape, their order, the key, and what the docs say about them.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun } from '../support/run-calls.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { countRuns, execute, no, said } from '../support/webhook-calls.ts'
import { proves } from './proves.ts'

const GOOD = { agent_name: 'helper', task: 'Say hello.' }
const EVIL = { host: 'evil.test' }
const KEY = 'a very secret key'
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const TOO_LARGE = ' '.repeat(1024 * 1024 + 1)
/** Wrong in everything that comes later in the order. */
const HOPELESS = { 'content-type': 'text/plain', ...EVIL }

describe('refusals', () => {
  proves('webhook.error-shape', 'are all {error, message}, error a short phrase in lower case', async () => {
    await using app = await startApp({ SVC_MAX_QUEUED_RUNS: '1', SVC_MAX_CONCURRENT_RUNS: '1' }, { idle: true })
    await createAgent(app)
    const send = async (body: unknown, headers = {}, method = 'POST') =>
      said(await execute(app, body, { headers, method }))
    const answers = [
      await send(undefined, {}, 'GET'),
      await send(GOOD, EVIL),
      await send(GOOD, { 'content-type': 'text/plain' }),
      await send(TOO_LARGE),
      await send('{"task":'),
      await send({}),
      await send({ ...GOOD, agent_name: 'nobody' }),
    ]
    expect(answers).toEqual([
      no(405, 'method not allowed'),
      no(403, 'forbidden'),
      no(415, 'unsupported media type'),
      no(413, 'payload too large'),
      no(400, 'invalid request', /not valid JSON/),
      no(400, 'invalid request'),
      no(404, 'agent not found'),
    ])
    for (const { body } of answers) {
      expect(Object.keys(body)).toEqual(['error', 'message'])
      expect(body.error).toMatch(/^[a-z ]{5,40}$/)
    }
  })

  proves('webhook.method', 'another method than POST is 405 with Allow, whoever asks', async () => {
    await using app = await startApp()
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await execute(app, undefined, { method, headers: EVIL })
      expect(said(answer), method).toEqual(no(405, 'method not allowed'))
      expect(answer.headers.get('allow')).toBe('POST')
    }
  })

  proves('webhook.disabled', 'everything is 404 when the webhook is off, before any other check', async () => {
    await using app = await startApp({ SVC_WEBHOOK_ENABLED: 'false', SVC_WEBHOOK_API_KEY: KEY })
    await createAgent(app)
    const calls = [
      await execute(app, GOOD),
      await execute(app, GOOD, { headers: bearer(KEY) }),
      await execute(app, undefined, { method: 'GET' }),
      await execute(app, TOO_LARGE, { headers: HOPELESS }),
    ]
    for (const answer of calls) expect(said(answer)).toEqual(no(404, 'not found', /webhook\.enabled/))
    expect(await countRuns(app)).toBe(0)
  })

  proves('webhook.auth-before-body', 'Host, Origin, then the key, and only then the body', async () => {
    await using app = await startApp({ SVC_WEBHOOK_API_KEY: KEY })
    await createAgent(app)
    const wrong = { 'content-type': 'text/plain' }
    const send = async (headers: Record<string, string>) => said(await execute(app, TOO_LARGE, { headers }))
    expect(await send({ ...wrong, ...EVIL })).toEqual(no(403, 'forbidden'))
    expect(await send({ ...wrong, origin: 'http://evil.test' })).toEqual(no(403, 'forbidden'))
    expect(await send({ ...wrong, ...EVIL, ...bearer('wrong') })).toEqual(no(403, 'forbidden'))
    expect(await send(wrong)).toEqual(no(401, 'unauthorized'))
    expect(await send({ ...wrong, ...bearer(KEY) })).toEqual(no(415, 'unsupported media type'))
  })

  proves('webhook.media-type-and-size', 'media type, then size, then fields', async () => {
    await using app = await startApp()
    const send = async (body: unknown, headers: Record<string, string> = {}) =>
      said(await execute(app, body, { headers }))
    expect(await send(TOO_LARGE, { 'content-type': 'text/plain' })).toEqual(no(415, 'unsupported media type'))
    expect(await send(GOOD, { 'content-encoding': 'gzip' })).toEqual(no(415, 'unsupported media type'))
    expect(await send(`{"task": 1${TOO_LARGE}}`)).toEqual(no(413, 'payload too large'))
    expect(await send({ task: 1 })).toEqual(no(400, 'invalid request', /task/))
    for (const body of [
      '',
      'null',
      '[]',
      '"text"',
      '{',
      '{"task":"a","task":"b","agent_name":"x"}',
      '{"__proto__":1}',
    ]) {
      expect(await send(body), body).toEqual(no(400, 'invalid request'))
    }
  })

  proves('webhook.fields-before-agent', 'the fields, then the agent, then the queue', async () => {
    await using app = await startApp({ SVC_MAX_QUEUED_RUNS: '1', SVC_MAX_CONCURRENT_RUNS: '1' }, { idle: true })
    await createAgent(app)
    let last = await execute(app, GOOD)
    for (let call = 0; call < 5 && last.status === 202; call++) last = await execute(app, GOOD)
    expect(said(last)).toEqual(no(429, 'queue full', /SVC_MAX_QUEUED_RUNS/))
    expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    const runs = await countRuns(app)
    expect(said(await execute(app, { ...GOOD, agent_name: 'nobody' }))).toEqual(no(404, 'agent not found'))
    expect(said(await execute(app, { agent_name: 'nobody' }))).toEqual(no(400, 'invalid request', /task/))
    expect(await countRuns(app)).toBe(runs)
  })

  proves('webhook.storage-down', 'a run that cannot be stored is 503, and taken once it can', async () => {
    await using app = await startApp()
    await createAgent(app)
    const lock = holdDatabase(app)
    try {
      const answer = await execute(app, GOOD)
      expect(said(answer)).toEqual(no(503, 'storage unavailable'))
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    } finally {
      lock.close()
    }
    expect(await countRuns(app)).toBe(0)
    const { body } = await execute(app, GOOD)
    expect(await endedRun(app, body.run_id)).toMatchObject({ status: 'completed' })
  })

  proves('webhook.extensions-listed', 'beyond 400, 401 and 404 are listed as an extension in the docs', async () => {
    const text = await readFile(join(import.meta.dirname, '../../docs/api.md'), 'utf8')
    const webhook = text.slice(text.indexOf('## Webhook'))
    const section = webhook.slice(0, webhook.indexOf('\n## ', 1))
    expect(section).toMatch(/extension/)
    for (const status of [403, 405, 413, 415, 422, 429, 500, 503]) expect(section).toContain(`| ${status} |`)
  })
})

describe('the key', () => {
  const withKey = (app: TestApp, authorization: string | undefined) =>
    execute(app, GOOD, authorization === undefined ? {} : { headers: { authorization } })

  proves('webhook.key', 'exactly as Bearer lets in, and is the principal of the run', async () => {
    await using app = await startApp({ SVC_WEBHOOK_API_KEY: KEY })
    await createAgent(app)
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const { status, body } = await withKey(app, `${scheme} ${KEY}`)
      expect(status, scheme).toBe(202)
      expect((await readRun(app, body.run_id)).source.principal).toBe('webhook-key')
    }
  })

  proves('webhook.key-wrong', 'missing or another is 401 with WWW-Authenticate, and starts nothing', async () => {
    await using app = await startApp({ SVC_WEBHOOK_API_KEY: KEY })
    await createAgent(app)
    const wrong = [
      ...[undefined, '', 'Bearer', 'Bearer ', `Bearer  ${KEY}`, `Bearer\t${KEY}`, KEY, `Basic ${KEY}`],
      ...[`Bearer ${KEY}x`, `Bearer x${KEY}`, `Bearer ${KEY.slice(1)}`, `Bearer ${KEY.slice(0, -1)}`],
      ...[`Bearer ${KEY.toUpperCase()}`, `Bearer ${KEY}, Bearer ${KEY}`, `Bearer "${KEY}"`, `Token ${KEY}`],
    ]
    for (const authorization of wrong) {
      const answer = await withKey(app, authorization)
      expect(said(answer), String(authorization)).toEqual(no(401, 'unauthorized'))
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(JSON.stringify(answer.body)).not.toContain(KEY)
    }
    const elsewhere = { 'x-api-key': KEY, cookie: `key=${KEY}` }
    expect(await execute(app, { ...GOOD, key: KEY }, { headers: elsewhere })).toMatchObject({ status: 401 })
    expect(await countRuns(app)).toBe(0)
  })

  proves('webhook.local-open', 'is asked for by nobody when none is set, and whatever is sent is ignored', async () => {
    await using app = await startApp()
    await createAgent(app)
    for (const authorization of [undefined, 'Bearer anything', 'Basic !!!']) {
      const { status, body } = await withKey(app, authorization)
      expect(status).toBe(202)
      expect((await readRun(app, body.run_id)).source.principal).toBeNull()
    }
  })

  test('does not change what the REST API asks for', async () => {
    await using app = await startApp({ SVC_WEBHOOK_API_KEY: KEY })
    expect(await app.api('GET', '/runs')).toMatchObject({ status: 200 })
  })
})
