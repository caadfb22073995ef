// What the service says about itself, on all three doors, in good times and bad.
import { describe, expect } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { outcome, refusal } from '../support/rest-calls.ts'
import { startService } from '../support/service-process.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const PLAIN_DOORS = ['mcp', 'agents'] as const

async function plainHealth(app: TestApp, door: (typeof PLAIN_DOORS)[number], method = 'GET') {
  const response = await app.fetch(
    door,
    new Request('http://localhost/health', { method, headers: { host: 'localhost' } }),
  )
  return { status: response.status, body: await response.json(), headers: response.headers }
}

describe('health', () => {
  proves(
    ['health.ok', 'health.fields', 'health.database'],
    'tells status, version, mode, uptime, database',
    async () => {
      await using app = await startApp()
      const { status, body } = await app.api('GET', '/health')
      expect({ status, success: body.success, error: body.error }).toEqual({ status: 200, success: true, error: null })
      expect(body.data).toMatchObject({
        status: 'ok',
        version: VERSION,
        mode: 'local',
        uptime_seconds: expect.any(Number),
        database: { kind: 'sqlite', ok: true },
      })
      expect(Number.isInteger(body.data.uptime_seconds)).toBe(true)
      expect(body.data.uptime_seconds).toBeGreaterThanOrEqual(0)
    },
  )

  proves('health.model', 'tells which provider answers, and whether that is the offline model', async () => {
    const modelOf = async (settings: Record<string, string>) => {
      await using app = await startApp(settings)
      return (await app.api('GET', '/health')).body.data.model
    }
    expect(await modelOf({})).toEqual({ provider: 'offline', offline: true })
    expect(await modelOf({ ANTHROPIC_API_KEY: 'key' })).toEqual({ provider: 'anthropic', offline: false })
    expect(await modelOf({ SVC_AI_BASE_URL: 'http://localhost:1/v1' })).toMatchObject({ offline: false })
  })

  proves(
    'models.offline-default',
    'with nothing configured the log and health say offline, and runs complete',
    async () => {
      await using home = await temporaryFolder()
      await using service = await startService({ home: home.path })
      expect(service.stderr()).toMatch(/no model is configured.*offline/)
      const health = await (await fetch(`${service.api}/api/v1/health`)).json()
      expect(health).toMatchObject({ data: { model: { provider: 'offline', offline: true } } })
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ name: 'first', prompt: 'Be kind.' })
      const agent = (await (await fetch(`${service.api}/api/v1/agents`, { method: 'POST', headers, body })).json()) as {
        data: { id: number }
      }
      const url = `${service.api}/api/v1/agents/${agent.data.id}/run?wait=20`
      const run = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ task: 'Hello' }) })
      expect(await run.json()).toMatchObject({ data: { status: 'completed', model: 'offline' } })
    },
  )

  proves('running.health-on-mcp-ports', 'is a bare status on the other two doors', async () => {
    await using app = await startApp()
    for (const door of PLAIN_DOORS) {
      expect(await plainHealth(app, door), door).toMatchObject({ status: 200, body: { status: 'ok' } })
      expect(Object.keys((await plainHealth(app, door)).body as object), door).toEqual(['status'])
      const wrong = await plainHealth(app, door, 'POST')
      expect(wrong, door).toMatchObject({ status: 405, body: { error: 'method not allowed' } })
      expect(wrong.headers.get('allow')).toBe('GET, HEAD')
    }
  })

  proves(['running.health-on-mcp-ports', 'health.ok'], 'answers on the real ports of a real process', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path })
    const api = await fetch(`${service.api}/api/v1/health`)
    expect(await api.json()).toMatchObject({ success: true, data: { status: 'ok' } })
    for (const address of [service.mcp, service.agents]) {
      const response = await fetch(`${address}/health`)
      expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { status: 'ok' } })
    }
  })

  proves('health.storage-down', 'is 503 everywhere while the database is down, and good again after', async () => {
    await using app = await startApp()
    const lock = holdDatabase(app)
    try {
      const [api, mcp, agents] = await Promise.all([
        app.api('GET', '/health'),
        plainHealth(app, 'mcp'),
        plainHealth(app, 'agents'),
      ])
      expect(outcome(api)).toEqual(refusal(503, 'STORAGE_UNAVAILABLE'))
      expect(api.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      for (const plain of [mcp, agents]) {
        expect(plain).toMatchObject({
          status: 503,
          body: { error: 'storage unavailable', message: expect.any(String) },
        })
      }
    } finally {
      lock.close()
    }
    expect(await app.api('GET', '/health')).toMatchObject({ status: 200, body: { data: { database: { ok: true } } } })
    expect(await plainHealth(app, 'mcp')).toMatchObject({ status: 200 })
  })
})
