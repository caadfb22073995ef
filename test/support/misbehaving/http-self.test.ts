// Each misbehaving HTTP server does what its fault says, and nothing else is wrong with it.
import { expect, test } from 'vitest'
import { until } from '../until.ts'
import { HTTP_FAULTS, type HttpFault } from './http-faults.ts'
import { type MisbehavingHttp, type MisbehavingHttpOptions, startMisbehavingHttp } from './http-server.ts'

const LARGE = 100_000_000

interface Post {
  headers?: Record<string, string>
  signal?: AbortSignal
}

const post = ({ url }: MisbehavingHttp, method: string, params: object = {}, { headers, signal }: Post = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    ...(signal ? { signal } : {}),
  })
const call = (server: MisbehavingHttp, name: string, more?: Post) => post(server, 'tools/call', { name }, more)
const isOk = async (server: MisbehavingHttp, more?: Post) =>
  expect(await (await call(server, 'ok', more)).json()).toMatchObject({ result: { content: [{ text: 'ok' }] } })

const answers = (status: number) => async (server: MisbehavingHttp) => {
  const response = await post(server, 'initialize')
  expect(response.status).toBe(status)
  expect(response.headers.get('www-authenticate')).toBeNull()
  await response.text()
  expect((await fetch(new URL('/.well-known/oauth-protected-resource', server.url))).status).toBe(404)
}

async function getsNoHeaders(server: MisbehavingHttp): Promise<void> {
  const leaving = new AbortController()
  const asked = post(server, 'initialize', {}, { signal: leaving.signal })
  await until('the request', () => server.requests.length === 1)
  leaving.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
}

async function isHuge(server: MisbehavingHttp, type: string): Promise<void> {
  const response = await call(server, 'fault')
  expect(response.headers.get('content-type')).toBe(type)
  let bytes = 0
  for await (const chunk of response.body ?? []) bytes += chunk.length
  expect(bytes).toBeGreaterThan(LARGE)
  await (await call(server, 'fault')).body?.cancel()
  await isOk(server)
}

const FACTS: Record<HttpFault, (server: MisbehavingHttp) => Promise<void>> = {
  unauthorized: answers(401),
  forbidden: answers(403),
  'not-found': answers(404),
  broken: answers(500),
  unavailable: answers(503),
  'never-answers': getsNoHeaders,
  'slow-headers': getsNoHeaders,
  'sse-only': async (server) => {
    expect((await post(server, 'initialize')).status).toBe(405)
    const events = await fetch(server.url)
    expect(events.headers.get('content-type')).toBe('text/event-stream')
    await events.body?.cancel()
  },
  redirects: async (server) => {
    await isOk(server, { headers: { authorization: 'Bearer x', 'x-api-key': 'y' } })
    const [here, elsewhere] = server.requests
    expect(here).toMatchObject({ where: 'here', headers: { authorization: 'Bearer x' } })
    // This is what the platform's own client does: a header with another name goes along.
    expect(elsewhere).toMatchObject({ where: 'elsewhere', headers: { 'x-api-key': 'y' } })
    expect(elsewhere?.headers).not.toHaveProperty('authorization')
  },
  html: async (server) => expect(await (await post(server, 'initialize')).text()).toMatch(/^<h1>/),
  'wrong-type': async (server) => {
    const response = await post(server, 'initialize')
    expect(response.headers.get('content-type')).toBe('application/x-unheard-of')
    expect(await response.json()).toHaveProperty('result.serverInfo')
  },
  'loses-sessions': async (server) => {
    const greeting = await post(server, 'initialize')
    await greeting.text()
    const headers = { 'mcp-session-id': greeting.headers.get('mcp-session-id') ?? '' }
    await isOk(server, { headers })
    const lost = await call(server, 'ok', { headers })
    expect([lost.status, await lost.json()]).toMatchObject([404, { error: { code: -32001 } }])
  },
  'header-mismatch': async (server) => {
    expect(await (await post(server, 'server/discover')).json()).toHaveProperty('result.supportedVersions')
    const refused = await call(server, 'fault')
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: -32020 } }])
    await isOk(server)
  },
  'cut-stream': async (server) => {
    const response = await call(server, 'fault')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    await isOk(server)
  },
  'huge-body': (server) => isHuge(server, 'application/json'),
  'huge-event': (server) => isHuge(server, 'text/event-stream'),
}

test.each(Object.keys(HTTP_FAULTS) as HttpFault[])('%s', async (fault) => {
  await using server = await startMisbehavingHttp(fault)
  await FACTS[fault](server)
})

test('a fault of every request can be one of calls alone', async () => {
  await using server = await startMisbehavingHttp('unavailable', { when: 'call' })
  expect(await (await post(server, 'initialize')).json()).toHaveProperty('result.serverInfo')
  expect((await call(server, 'fault')).status).toBe(503)
  await isOk(server)
})

test('a session lasts as long as it is told to', async () => {
  const options: MisbehavingHttpOptions = { callsPerSession: 3 }
  await using server = await startMisbehavingHttp('loses-sessions', options)
  const headers = { 'mcp-session-id': (await post(server, 'initialize')).headers.get('mcp-session-id') ?? '' }
  const statuses: number[] = []
  for (let count = 0; count < 4; count++) statuses.push((await call(server, 'ok', { headers })).status)
  expect(statuses).toEqual([200, 200, 200, 404])
})
