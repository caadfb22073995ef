// Host and Origin on all three doors: what a page on another origin, or a rebound name, runs into.
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent, total } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const DOORS = ['api', 'mcp', 'agents'] as const
type Door = (typeof DOORS)[number]
const HEALTH = { api: '/api/v1/health', mcp: '/health', agents: '/health' }
const OWN = { api: 'localhost:8585', mcp: 'localhost:8586', agents: 'localhost:8587' }

interface Call {
  host?: string
  origin?: string
  path?: string
  method?: string
}

function call(app: TestApp, door: Door, { host = OWN[door], origin, path = HEALTH[door], method = 'GET' }: Call) {
  const headers = new Headers(origin === undefined ? { host } : { host, origin })
  return app.fetch(door, new Request(`http://localhost${path}`, { method, headers }))
}

/** The status on each door, in order. */
const everywhere = async (app: TestApp, each: Call) =>
  (await Promise.all(DOORS.map((door) => call(app, door, each)))).map(({ status }) => status)

const ALLOWED = [200, 200, 200]
const REFUSED = [403, 403, 403]

/** What a page can send without asking first: a POST that a careless service would take for JSON. */
async function post(app: TestApp, headers: Record<string, string>) {
  const answer = await app.api('POST', '/agents', { name: 'planted', prompt: 'x' }, headers)
  return { status: answer.status, code: answer.body.error?.code, agents: await total(app) }
}

describe('Host', () => {
  const foreign = [
    ...[
      'evil.test',
      'evil.test:8585',
      'localhost.evil.test',
      'localhost.evil.test:8585',
      'evil.localhost',
      'xlocalhost',
    ],
    ...['127.0.0.1.evil.test', '127.0.0.2', '0.0.0.0', '0.0.0.0:8585', '192.168.0.1:8585', '[::2]:8585', '::1'],
    ...[
      'localhost:8585:1',
      'localhost@evil.test',
      'evil.test@localhost:x',
      'localhost evil.test',
      'localhost,evil.test',
    ],
    ...['localhost/evil.test', 'http://localhost:8585', 'localhost:evil', '2130706433', '127.1', '[::ffff:127.0.0.1]'],
  ]

  proves('guard.host', 'a name that is not ours is refused on every door', async () => {
    await using app = await startApp()
    for (const host of foreign) expect(await everywhere(app, { host }), host).toEqual(REFUSED)
    expect(await everywhere(app, { host: '' })).toEqual(REFUSED)
  })

  proves('guard.host', 'our own names are taken, whatever the port and the case', async () => {
    await using app = await startApp()
    const own = ['localhost', 'localhost:8585', 'LOCALHOST:1', '127.0.0.1', '127.0.0.1:9999', '[::1]', '[::1]:8585']
    for (const host of own) expect(await everywhere(app, { host }), host).toEqual(ALLOWED)
  })

  proves('guard.host', 'a refused POST creates nothing', async () => {
    await using app = await startApp()
    for (const host of ['evil.test', 'rebound.test:8585', 'localhost.evil.test']) {
      expect(await post(app, { host })).toEqual({ status: 403, code: 'FORBIDDEN', agents: 0 })
    }
    const { id } = await createAgent(app)
    await app.api('DELETE', `/agents/${id}`, undefined, { host: 'evil.test' })
    expect(await total(app)).toBe(1)
  })

  test('a forwarding header does not change what the Host is', async () => {
    await using app = await startApp()
    const headers = { host: 'evil.test', 'x-forwarded-host': 'localhost:8585', forwarded: 'host=localhost' }
    expect(await app.api('GET', '/health', undefined, headers)).toMatchObject({ status: 403 })
  })
})

describe('Origin', () => {
  const foreign = [
    ...[
      'http://evil.test',
      'https://evil.test',
      'http://evil.test:8585',
      'http://localhost.evil.test:8585',
      'null',
      '',
    ],
    ...['http://localhost:3000', 'http://localhost', 'http://127.0.0.1:3000', 'chrome-extension://abc', 'file://'],
    ...['http://evil.test#http://localhost:8585', 'localhost:8585', 'not an origin', 'http://localhost:8585.evil.test'],
  ]

  proves('guard.origin', 'a page of another origin is refused on every door', async () => {
    await using app = await startApp()
    for (const origin of foreign) expect(await everywhere(app, { origin }), origin).toEqual(REFUSED)
  })

  proves('guard.origin', 'a page of our own origin, and a program that sends none, are taken', async () => {
    await using app = await startApp()
    expect(await everywhere(app, {})).toEqual(ALLOWED)
    for (const host of ['localhost:8585', '127.0.0.1:8585', '[::1]:8585']) {
      expect(await everywhere(app, { host, origin: `http://${host}` }), host).toEqual(ALLOWED)
    }
  })

  proves('guard.origin', 'a page on another port of this machine is another origin', async () => {
    await using app = await startApp()
    const statuses = DOORS.map(async (door) => (await call(app, door, { origin: 'http://localhost:3000' })).status)
    expect(await Promise.all(statuses)).toEqual(REFUSED)
    const [host, origin] = ['localhost:8585', 'http://127.0.0.1:8585']
    expect(await everywhere(app, { host, origin })).toEqual(REFUSED)
  })

  proves('guard.origin', 'a refused POST creates nothing', async () => {
    await using app = await startApp()
    for (const origin of ['http://evil.test', 'null', 'http://localhost:3000']) {
      expect(await post(app, { origin })).toEqual({ status: 403, code: 'FORBIDDEN', agents: 0 })
    }
    expect(await post(app, { origin: 'http://localhost:8585' })).toMatchObject({ status: 201, agents: 1 })
  })
})

proves('rest.host-before-route', 'an unknown path and a wrong method show nothing to a stranger', async () => {
  await using app = await startApp()
  const calls: Call[] = [
    { path: '/nowhere' },
    { path: '/api/v1/agents', method: 'PATCH' },
    { path: '/docs' },
    { path: '/' },
  ]
  for (const each of calls) {
    expect(await everywhere(app, { ...each, host: 'evil.test' })).toEqual(REFUSED)
    expect(await everywhere(app, { ...each, origin: 'http://evil.test' })).toEqual(REFUSED)
  }
  const headers = { host: 'evil.test', 'content-type': 'text/plain' }
  expect(await app.api('POST', '/agents', { name: 1 }, headers)).toMatchObject({ status: 403 })
})

describe('settings', () => {
  proves('guard.allowed-hosts', 'allowed_hosts adds names, with or without a port', async () => {
    await using app = await startApp({ SVC_ALLOWED_HOSTS: 'agents.example.test, box.test:8443,10.0.0.7' })
    const added = [
      'agents.example.test',
      'agents.example.test:443',
      'AGENTS.example.test',
      'box.test:8443',
      '10.0.0.7:80',
    ]
    for (const host of [...added, 'localhost']) expect(await everywhere(app, { host }), host).toEqual(ALLOWED)
    for (const host of ['example.test', 'x.agents.example.test', 'box.test', 'box.test:1', '10.0.0.70']) {
      expect(await everywhere(app, { host }), host).toEqual(REFUSED)
    }
    const page = { host: 'agents.example.test', origin: 'https://agents.example.test' }
    expect(await everywhere(app, page)).toEqual(ALLOWED)
  })

  proves('guard.allowed-hosts', 'allowed_origins adds pages, and nothing that resembles them', async () => {
    await using app = await startApp({ SVC_ALLOWED_ORIGINS: 'https://ui.example.test,http://localhost:3000' })
    for (const origin of ['https://ui.example.test', 'http://localhost:3000']) {
      expect(await everywhere(app, { origin }), origin).toEqual(ALLOWED)
    }
    const alike = ['http://ui.example.test', 'https://ui.example.test:444', 'https://ui.example.test.evil.test', 'null']
    for (const origin of alike) expect(await everywhere(app, { origin }), origin).toEqual(REFUSED)
    expect(await everywhere(app, { host: 'ui.example.test', origin: 'https://ui.example.test' })).toEqual(REFUSED)
  })

  proves('guard.allowed-hosts', 'names and origins are compared as names and origins, not as texts', async () => {
    await using app = await startApp({
      SVC_ALLOWED_HOSTS: 'Agents.Example.Test',
      SVC_ALLOWED_ORIGINS: 'https://UI.Example.Test/,https://plain.test:443',
    })
    expect(await everywhere(app, { host: 'agents.example.test' })).toEqual(ALLOWED)
    expect(await everywhere(app, { origin: 'https://ui.example.test' })).toEqual(ALLOWED)
    expect(await everywhere(app, { origin: 'https://plain.test' })).toEqual(ALLOWED)
  })

  proves('guard.allowed-hosts', 'public_url allows its own name and page, each on its door', async () => {
    await using app = await startApp({
      SVC_PUBLIC_URL_API: 'https://api.example.test:8443/base',
      SVC_PUBLIC_URL_MCP: 'https://mcp.example.test',
      SVC_PUBLIC_URL_AGENTS: 'https://run.example.test',
    })
    expect(await everywhere(app, { host: 'api.example.test:8443' })).toEqual([200, 403, 403])
    expect(await everywhere(app, { host: 'mcp.example.test' })).toEqual([403, 200, 403])
    expect(await everywhere(app, { host: 'run.example.test' })).toEqual([403, 403, 200])
    expect(await everywhere(app, { origin: 'https://api.example.test:8443' })).toEqual([200, 403, 403])
    expect(await everywhere(app, { origin: 'https://api.example.test' })).toEqual(REFUSED)
  })
})

proves('guard.no-cors', 'no answer on any door invites another origin', async () => {
  await using app = await startApp({ SVC_ALLOWED_ORIGINS: 'https://ui.example.test' })
  const origins = ['https://ui.example.test', 'http://evil.test', 'null', 'http://localhost:8585', undefined]
  const paths = [undefined, '/nowhere', '/docs', '/api/v1/openapi.json', '/mcp', '/execute']
  for (const door of DOORS) {
    for (const origin of origins) {
      for (const path of paths) {
        for (const method of ['GET', 'POST', 'OPTIONS']) {
          const { headers } = await call(app, door, { method, ...(origin && { origin }), ...(path && { path }) })
          expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
          expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
          expect(headers.get('x-content-type-options')).toBe('nosniff')
        }
      }
    }
  }
})
