// What every answer under /api/v1 has in common: the envelope, paths and methods, headers, codes, ids and times.
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createGuard } from '../../src/http/guard.ts'
import { serveRoutes } from '../../src/rest/server.ts'
import { startApp } from '../support/app.ts'
import { API, createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('the envelope', () => {
  proves(['rest.envelope', 'rest.success', 'rest.failure'], 'is on every answer, good or bad', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const good = [
      await app.api('GET', '/health'),
      await app.api('GET', '/agents'),
      await app.api('GET', `/agents/${id}`),
      await app.api('GET', `/agents/${id}/versions/1`),
      await app.api('PUT', `/agents/${id}`, { description: 'new' }),
      await app.api('GET', '/environments/default'),
      await app.api('POST', '/environments/default/sync'),
      await app.api('DELETE', `/agents/${id}`),
    ]
    for (const { body } of good) {
      expect(Object.keys(body).filter((key) => key !== 'pagination')).toEqual(['success', 'data', 'error'])
      expect(body).toMatchObject({ success: true, error: null })
    }
    const bad = [
      await app.api('GET', '/agents/999'),
      await app.api('GET', '/nowhere'),
      await app.api('PATCH', '/agents'),
      await app.api('POST', '/agents', { name: '' }),
      await app.api('GET', '/agents', undefined, { host: 'evil.test' }),
    ]
    for (const { body } of bad) {
      expect(Object.keys(body)).toEqual(['success', 'data', 'error'])
      expect(body).toMatchObject({ success: false, data: null })
      expect(body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
    }
  })

  proves('rest.internal-error', 'shows nothing of an unknown exception, and the log has all of it', async () => {
    let logged = ''
    const sink = new Writable({
      write(chunk, _encoding, done) {
        logged += chunk
        done()
      },
    })
    const boom = serveRoutes({
      guard: createGuard({ allowed_hosts: [], allowed_origins: [], public_urls: [], host: undefined }),
      routes: [
        {
          ...({ method: 'GET', path: '/boom', scope: 'public', tag: 'Test', name: 'boom', summary: 'Fail' } as const),
          ...{ status: 200, answers: {} as never, errors: [] },
          handle: () => Promise.reject(new Error('secret detail')),
        },
      ],
      pages: {},
      publicUrl: undefined,
      log: pino(sink),
    })
    const headers = { host: 'localhost', 'x-request-id': 'req-7' }
    const response = await boom.fetch(new Request(`${API}/boom`, { headers }))
    expect(response.status).toBe(500)
    const body = await response.json()
    expect(body).toEqual({
      success: false,
      data: null,
      error: { code: 'INTERNAL_ERROR', message: expect.any(String), request_id: 'req-7' },
    })
    expect(JSON.stringify(body)).not.toContain('secret detail')
    expect(logged).toContain('secret detail')
    expect(logged).toContain('req-7')
  })
})

describe('paths and methods', () => {
  const unknown = [
    ...['', '/', '/nowhere', '/agents/', '/agents/1/', '/Agents', '/agents/1/nothing', '/agents//versions'],
    ...['/environments/', '/environments//sync', '/agents/%2e%2e', '/agents/..%2fhealth', '/agents/1%2fversions'],
    ...['//api/v1//agents', '//api//v1/agents', '//api/v2/agents', '//api/agents', '/health.json'],
  ]

  proves(['rest.unknown-path', 'rest.prefix'], 'an unknown path is 404 NOT_FOUND', async () => {
    await using app = await startApp()
    for (const path of unknown) {
      const answer = await app.api('GET', path)
      // One encoded slash belongs to the id, which is then none.
      const isId = path.includes('%2f')
      expect.soft(outcome(answer), path).toEqual(isId ? refusal(400, 'INVALID_REQUEST') : refusal(404, 'NOT_FOUND'))
    }
  })

  proves('rest.prefix', 'nothing of the API answers outside /api/v1', async () => {
    await using app = await startApp()
    for (const path of ['//agents', '//health', '//environments', '//openapi.json', '//v1/agents']) {
      expect(await app.api('GET', path), path).toMatchObject({ status: 404 })
    }
  })

  test('bytes that no encoding explains are refused as a value, not as a crash', async () => {
    await using app = await startApp()
    for (const path of ['/agents/%zz', '/agents/%', '/agents/%ff', '/agents/%00', '/environments/%zz']) {
      expect(outcome(await app.api('GET', path)), path).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
  })

  const allowed: [path: string, methods: string[]][] = [
    ['/health', ['GET', 'HEAD']],
    ['/agents', ['GET', 'HEAD', 'POST']],
    ['/agents/1', ['GET', 'HEAD', 'PUT', 'DELETE']],
    ['/agents/1/versions', ['GET', 'HEAD']],
    ['/agents/1/versions/1', ['GET', 'HEAD']],
    ['/environments', ['GET', 'HEAD']],
    ['/environments/default', ['GET', 'HEAD']],
    ['/environments/default/sync', ['POST']],
    ['/openapi.json', ['GET', 'HEAD']],
  ]

  proves('rest.wrong-method', 'another method is 405 METHOD_NOT_ALLOWED with Allow', async () => {
    await using app = await startApp()
    for (const [path, methods] of allowed) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
        if (methods.includes(method)) continue
        const answer = await app.api(method, path)
        expect(outcome(answer), `${method} ${path}`).toEqual(refusal(405, 'METHOD_NOT_ALLOWED'))
        expect(answer.headers.get('allow')?.split(', ').sort(), path).toEqual([...methods].sort())
      }
    }
  })

  test('HEAD answers as GET does, without the body', async () => {
    await using app = await startApp()
    const head = (path: string) =>
      app.fetch('api', new Request(`${API}${path}`, { method: 'HEAD', headers: { host: 'localhost:8585' } }))
    const answers = await Promise.all(['/agents', '/agents/1', '/nowhere', '/environments/default/sync'].map(head))
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 405])
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['', '', '', ''])
    expect(answers[0]?.headers.get('link')).toContain('rel="first"')
  })
})

describe('headers', () => {
  proves(['rest.request-id-returned', 'rest.no-store'], 'every answer has a request id and is not stored', async () => {
    await using app = await startApp()
    const answers = [
      await app.api('GET', '/health'),
      await app.api('GET', '/openapi.json'),
      await app.api('GET', '/nowhere'),
      await app.api('PATCH', '/agents'),
      await app.api('GET', '/agents/0'),
      await app.api('POST', '/agents', {}),
      await app.api('GET', '/agents', undefined, { host: 'evil.test' }),
      await app.api('GET', '//docs'),
    ]
    const ids = answers.map(({ headers }) => headers.get('x-request-id'))
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[\w-]{8,}$/)))
    expect(new Set(ids).size).toBe(ids.length)
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(answers.map(() => 'no-store'))
  })

  proves('rest.request-id-accepted', 'a safe request id is taken over, any other is replaced', async () => {
    await using app = await startApp()
    const sent = async (id: string) =>
      (await app.api('GET', '/health', undefined, { 'x-request-id': id })).headers.get('x-request-id')
    for (const id of ['a', 'Trace-1.2_3:4', 'x'.repeat(128)]) expect(await sent(id)).toBe(id)
    for (const id of ['x'.repeat(129), 'two words', 'a"b', '<script>', 'é', 'a,b']) {
      expect(await sent(id), id).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  proves('rest.error-request-id', 'the request id of an error is that of the answer', async () => {
    await using app = await startApp()
    const refused = await app.api('GET', '/agents/1', undefined, { 'x-request-id': 'mine' })
    expect(refused.body.error.request_id).toBe('mine')
    const fresh = await app.api('GET', '/nowhere')
    expect(fresh.body.error.request_id).toBe(fresh.headers.get('x-request-id'))
  })
})

describe('ids and times', () => {
  proves(
    ['rest.ids', 'rest.times'],
    'agents have integers, environments strings; times are UTC to the ms',
    async () => {
      await using app = await startApp()
      const agent = await createAgent(app)
      expect(Number.isInteger(agent.id)).toBe(true)
      const environment = (await app.api('GET', '/environments/default')).body.data
      expect(environment.id).toMatch(/^[1-9]\d*$/)
      expect(agent.environment_id).toBe(environment.id)
      for (const record of [agent, environment]) {
        expect([record.created_at, record.updated_at]).toEqual([expect.stringMatching(ISO), expect.stringMatching(ISO)])
      }
    },
  )

  const bad = [
    '0',
    '-1',
    '-0',
    '1e3',
    '1.0',
    '1.5',
    '01',
    '+1',
    '0x1',
    'abc',
    'NaN',
    'Infinity',
    '%201',
    '1%20',
    '1%0a',
  ]
  const large = ['9007199254740992', '9'.repeat(400)]

  proves('rest.bad-path-id', 'an id that is not a positive safe integer is 400', async () => {
    await using app = await startApp()
    await createAgent(app)
    for (const id of [...bad, ...large, '1,2', '1;2', '١', '%EF%BC%91', 'true', 'null', '__proto__']) {
      for (const path of [`/agents/${id}`, `/agents/${id}/versions`, `/agents/1/versions/${id}`]) {
        expect(outcome(await app.api('GET', path)), path).toEqual(refusal(400, 'INVALID_REQUEST'))
      }
      expect(outcome(await app.api('DELETE', `/agents/${id}`)), id).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
    expect(await app.api('GET', '/agents/9007199254740991')).toMatchObject({ status: 404 })
    expect(await app.api('GET', '/agents/1')).toMatchObject({ status: 200 })
  })
})
