// Environments: folders with a name, what is counted in them, and how their last sync went.
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const get = async (app: TestApp, name: string) => (await app.api('GET', `/environments/${name}`)).body.data
const sync = (app: TestApp, name: string, body?: object) => app.api('POST', `/environments/${name}/sync`, body)

describe('an environment', () => {
  proves(
    ['environments.get', 'environments.record', 'environments.counts'],
    'is found by its name, as a whole record',
    async () => {
      await using app = await startApp()
      const environment = await get(app, 'default')
      expect(environment).toEqual({
        id: expect.stringMatching(/^\d+$/),
        name: 'default',
        description: expect.any(String),
        agents_count: 0,
        mcp_servers_count: 0,
        tools_count: 0,
        last_sync: null,
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
      })
    },
  )

  proves('environments.list', 'is listed with pagination', async () => {
    await using app = await startApp()
    await app.put('other/agents/a.prompt', 'x')
    await sync(app, 'other')
    const { status, body } = await app.api('GET', '/environments')
    expect(status).toBe(200)
    expect(body.data).toEqual([await get(app, 'default'), await get(app, 'other')])
    expect(body.pagination).toEqual({ page: 1, limit: 100, total: 2, pages: 1 })
    expect((await app.api('GET', '/environments?page=2&limit=1')).body).toMatchObject({
      data: [{ name: 'other' }],
      pagination: { page: 2, limit: 1, total: 2, pages: 2 },
    })
  })

  proves('environments.not-found', 'that nobody knows is 404', async () => {
    await using app = await startApp()
    for (const name of ['none', 'Default', 'DEFAULT', 'defaul', 'a'.repeat(63)]) {
      expect(outcome(await app.api('GET', `/environments/${name}`)), name).toEqual(
        refusal(404, 'ENVIRONMENT_NOT_FOUND'),
      )
      expect(outcome(await sync(app, name)), name).toEqual(refusal(404, 'ENVIRONMENT_NOT_FOUND'))
    }
    expect((await app.api('GET', '/environments')).body.pagination.total).toBe(1)
  })

  proves('environments.counts', 'counts its agents, those from files too', async () => {
    await using app = await startApp()
    const count = async () => (await get(app, 'default')).agents_count
    const { id } = await createAgent(app, { name: 'one' })
    await createAgent(app, { name: 'two', enabled: false })
    expect(await count()).toBe(2)
    await app.put('default/agents/three.prompt', 'x')
    await sync(app, 'default')
    expect(await count()).toBe(3)
    await app.api('POST', '/agents', { name: 'one', prompt: 'x' })
    await app.api('PUT', `/agents/${id}`, { description: 'x' })
    expect(await count()).toBe(3)
    await app.api('DELETE', `/agents/${id}`)
    expect(await count()).toBe(2)
  })

  proves('environments.last-sync', 'tells how its last sync went', async () => {
    await using app = await startApp()
    await app.put('default/agents/a.prompt', 'x')
    await app.put('default/agents/b.prompt', 'y')
    await sync(app, 'default')
    const first = (await get(app, 'default')).last_sync
    expect(first).toEqual({ status: 'ok', at: expect.stringMatching(ISO), changes: 2, errors: [] })
    await app.put('default/agents/bad.prompt', '{{')
    await sync(app, 'default')
    const second = (await get(app, 'default')).last_sync
    const message = expect.stringMatching(/\S/)
    expect(second).toMatchObject({
      status: 'error',
      changes: 0,
      errors: [{ file: 'default/agents/bad.prompt', message }],
    })
    expect(second.at >= first.at).toBe(true)
  })
})

describe('a folder', () => {
  proves('environments.new-folder', 'that is new becomes an environment when it is synced', async () => {
    await using app = await startApp()
    await app.put('Prod-1_eu/agents/a.prompt', 'x')
    expect(await app.api('GET', '/environments/Prod-1_eu')).toMatchObject({ status: 404 })
    expect((await sync(app, 'Prod-1_eu')).body.data).toMatchObject({ created: ['a'], errors: [] })
    expect(await get(app, 'Prod-1_eu')).toMatchObject({ name: 'Prod-1_eu', agents_count: 1 })
    const agents = (await app.api('GET', '/agents?environment=Prod-1_eu')).body.data
    expect(agents).toMatchObject([{ name: 'a', environment: 'Prod-1_eu', source: 'file' }])
  })

  proves('environments.new-folder', 'without agents becomes an empty environment', async () => {
    await using app = await startApp()
    await mkdir(join(app.home, 'environments/empty'), { recursive: true })
    expect(await sync(app, 'empty')).toMatchObject({ status: 200, body: { data: { created: [], errors: [] } } })
    expect(await get(app, 'empty')).toMatchObject({ agents_count: 0, last_sync: { status: 'ok', changes: 0 } })
  })

  proves('environments.name-form', 'with a name of another form is none', async () => {
    await using app = await startApp()
    const names = ['1a', '_a', '-a', 'a b', 'a.b', 'ä', 'a'.repeat(64), '.git']
    for (const name of names) {
      await app.put(`${name}/agents/a.prompt`, 'x')
      const path = `/environments/${encodeURIComponent(name)}`
      expect(outcome(await app.api('GET', path)), name).toEqual(refusal(400, 'INVALID_REQUEST'))
      expect(outcome(await app.api('POST', `${path}/sync`)), name).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
    for (const name of ['..%2f..', '%2e%2e%2fdefault', 'default%00', 'default%2fagents']) {
      expect(outcome(await app.api('POST', `/environments/${name}/sync`)), name).toEqual(
        refusal(400, 'INVALID_REQUEST'),
      )
    }
    for (const name of ['a', 'Z9', 'a'.repeat(63), 'a_-b']) {
      await app.put(`${name}/agents/a.prompt`, 'x')
      expect(await sync(app, name), name).toMatchObject({ status: 200 })
    }
  })

  proves('environments.new-folder', 'that is a file, or a link to the outside, is none', async () => {
    await using app = await startApp()
    await app.put('file', 'not a folder')
    await mkdir(join(app.home, 'outside/agents'), { recursive: true })
    await writeFile(join(app.home, 'outside/agents/secret.prompt'), 'secret')
    await symlink(join(app.home, 'outside'), join(app.home, 'environments/link'))
    for (const name of ['file', 'link']) {
      expect(outcome(await sync(app, name)), name).toEqual(refusal(404, 'ENVIRONMENT_NOT_FOUND'))
    }
    expect((await app.api('GET', '/environments')).body.pagination.total).toBe(1)
  })
})
