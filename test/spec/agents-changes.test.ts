// Agents over REST, later in their life: changed, kept in versions, removed.
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent, outcome, refusal, total } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const get = async (app: TestApp, path: string) => (await app.api('GET', path)).body.data

const FULL = {
  ...{ name: 'full', description: 'Does all.', prompt: 'Greet {{who}}.', model: 'openai/gpt-5', tools: ['search'] },
  ...{ notify: true, enabled: false, max_steps: 3, timeout_seconds: 60, max_concurrency: 2 },
}

describe('changing', () => {
  proves(
    ['agents.update', 'agents.update-keeps', 'agents.update-version'],
    'keeps what is left out and counts up',
    async () => {
      await using app = await startApp()
      const before = await createAgent(app, FULL)
      const { status, body } = await app.api('PUT', `/agents/${before.id}`, { description: 'Other.' })
      expect(status).toBe(200)
      const changed = { ...before, description: 'Other.', version: 2, updated_at: body.data.updated_at }
      expect(body.data).toEqual(changed)
      expect(body.data.updated_at >= before.updated_at).toBe(true)
      expect((await app.api('PUT', `/agents/${before.id}`, {})).body.data).toEqual(changed)
      expect((await app.api('PUT', `/agents/${before.id}`, { description: 'Other.' })).body.data).toEqual(changed)
      const nulls = { model: null, tools: null, max_concurrency: null }
      expect((await app.api('PUT', `/agents/${before.id}`, nulls)).body.data).toMatchObject({ ...nulls, version: 3 })
      expect(await get(app, `/agents/${before.id}`)).toMatchObject({ ...nulls, version: 3 })
    },
  )

  proves('agents.update-version', 'loses no change of two who write at once', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const put = (body: object) => app.api('PUT', `/agents/${id}`, body)
    const answers = await Promise.all([put({ description: 'new' }), put({ max_steps: 7 }), put({ notify: true })])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await get(app, `/agents/${id}`)).toMatchObject({
      description: 'new',
      max_steps: 7,
      notify: true,
      version: 4,
    })
  })

  proves('agents.update-environment', 'does not move an agent', async () => {
    await using app = await startApp()
    await app.put('other/agents/.keep', '')
    await app.api('POST', '/environments/other/sync')
    const other = await get(app, '/environments/other')
    const { id, environment_id } = await createAgent(app)
    for (const to of [other.id, 'other', 'none']) {
      const refused = await app.api('PUT', `/agents/${id}`, { environment_id: to })
      expect(outcome(refused), to).toEqual(refusal(400, 'INVALID_REQUEST'))
      expect(refused.body.error.details).toEqual([{ path: '/environment_id', message: expect.any(String) }])
    }
    for (const same of [environment_id, 'default']) {
      expect(await app.api('PUT', `/agents/${id}`, { environment_id: same })).toMatchObject({ status: 200 })
    }
    expect(await get(app, `/agents/${id}`)).toMatchObject({ environment: 'default', version: 1 })
  })

  proves('agents.enable', 'enables and disables by one field', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    for (const enabled of [false, true]) {
      await app.api('PUT', `/agents/${id}`, { enabled })
      expect(await get(app, `/agents/${id}`)).toMatchObject({ enabled })
    }
  })
})

describe('versions', () => {
  proves(['agents.versions', 'agents.version', 'agents.version-immutable'], 'stay as they were made', async () => {
    await using app = await startApp()
    const first = await createAgent(app, FULL)
    const second = (await app.api('PUT', `/agents/${first.id}`, { name: 'renamed', prompt: 'Other {{x}}.' })).body.data
    const third = (await app.api('PUT', `/agents/${first.id}`, { enabled: true })).body.data
    const versions = await app.api('GET', `/agents/${first.id}/versions`)
    expect(versions.body.data).toEqual([third, second, first])
    expect(versions.body.pagination).toEqual({ page: 1, limit: 20, total: 3, pages: 1 })
    expect(await get(app, `/agents/${first.id}/versions?page=2&limit=1`)).toEqual([second])
    expect(await get(app, `/agents/${first.id}/versions/1`)).toEqual(first)
    expect(await get(app, `/agents/${first.id}/versions/3`)).toEqual(third)
    expect(outcome(await app.api('GET', `/agents/${first.id}/versions/4`))).toEqual(refusal(404, 'NOT_FOUND'))
    expect(outcome(await app.api('GET', '/agents/99/versions/1'))).toEqual(refusal(404, 'AGENT_NOT_FOUND'))
  })
})

describe('removing', () => {
  proves(['agents.delete', 'agents.not-found'], 'says so once, and then the agent is not found', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    expect(outcome(await app.api('DELETE', `/agents/${id}`))).toEqual({
      status: 200,
      body: { success: true, data: { id, deleted: true }, error: null },
    })
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['GET', '/versions'],
      ['GET', '/versions/1'],
    ]) {
      const answer = await app.api(method as string, `/agents/${id}${path}`, method === 'PUT' ? {} : undefined)
      expect(outcome(answer), `${method} ${path}`).toEqual(refusal(404, 'AGENT_NOT_FOUND'))
    }
    const missing = await app.api('GET', '/agents/123')
    expect(missing.body.error).toMatchObject({ code: 'AGENT_NOT_FOUND', message: 'Agent with ID 123 not found' })
    expect(await total(app)).toBe(0)
  })

  proves('running.ids-never-reused', 'frees the name, never the id', async () => {
    await using app = await startApp()
    const seen = new Set<number>()
    for (let round = 0; round < 3; round++) {
      const { id, version } = await createAgent(app)
      expect([seen.has(id), version]).toEqual([false, 1])
      seen.add(id)
      await app.api('DELETE', `/agents/${id}`)
    }
  })

  test('lets one of two win who come at once', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const answers = await Promise.all([app.api('DELETE', `/agents/${id}`), app.api('DELETE', `/agents/${id}`)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await get(app, '/environments/default')).agents_count).toBe(0)
  })
})
