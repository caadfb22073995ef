// GET /runs: newest first, in pages, filtered; and nothing of the steps is touched.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { run as runSchema } from '../../src/contract/run.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { endedRun, startRun } from '../support/run-calls.ts'
import { execute } from '../support/webhook-calls.ts'
import { proves } from './proves.ts'

const ids = async (app: TestApp, query: string): Promise<number[]> => {
  const { status, body } = await app.api('GET', `/runs?${query}`)
  expect(status, query).toBe(200)
  expect(body.pagination.total, query).toBe(body.data.length)
  return body.data.map(({ id }: { id: number }) => id)
}

describe('the list of runs', () => {
  proves('runs.list', 'is newest first, in pages, each item a record', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app)
    for (let count = 0; count < 25; count++) await startRun(app, id, `task ${count}`)
    const first = await app.api('GET', '/runs')
    expect(first.body.pagination).toEqual({ page: 1, limit: 20, total: 25, pages: 2 })
    expect(first.headers.get('link')).toMatch(/page=2[^,]*>; rel="next"/)
    const second = await app.api('GET', '/runs?page=2')
    const all = [...first.body.data, ...second.body.data]
    expect(all.map((run) => run.id)).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index))
    for (const run of all) {
      expect(Object.keys(run).sort()).toEqual(Object.keys(runSchema.shape).sort())
      runSchema.parse(run)
    }
  })

  proves('runs.list-filters', 'filters by status, where failed is another word for error', async () => {
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' })
    const good = await createAgent(app)
    const bad = await createAgent(app, { name: 'bad', tools: ['missing'] })
    const completed = await endedRun(app, await startRun(app, good.id, 'Hello.'))
    const failed = await endedRun(app, await startRun(app, bad.id, 'Hello.'))
    const running = await startRun(app, good.id, 'sleep 60000')
    expect(await ids(app, 'status=completed')).toEqual([completed.id])
    expect(await ids(app, 'status=error')).toEqual([failed.id])
    expect(await ids(app, 'status=failed')).toEqual([failed.id])
    expect(await ids(app, 'status=running')).toEqual([running])
    expect(await ids(app, `status=failed&agent_id=${good.id}`)).toEqual([])
    expect(outcome(await app.api('GET', '/runs?status=queued'))).toEqual(refusal(400, 'INVALID_REQUEST'))
  })

  proves('runs.list-filters', 'filters by agent, environment, source and text', async () => {
    await using app = await startApp({}, { idle: true })
    await app.put('other/agents/.keep', '')
    await app.api('POST', '/environments/other/sync')
    const one = await createAgent(app, { name: 'Cleaner' })
    const two = await createAgent(app, { name: 'two', environment_id: 'other' })
    const [a, b] = [
      await startRun(app, one.id, 'Ärger with the DISK'),
      await startRun(app, two.id, 'Count 100% of it_all'),
    ]
    const hook = (await execute(app, { agent_id: two.id, task: 'From outside' })).body.run_id
    expect(await ids(app, `agent_id=${one.id}`)).toEqual([a])
    expect(await ids(app, 'environment=other')).toEqual([hook, b])
    expect(await ids(app, 'environment=none')).toEqual([])
    expect(await ids(app, 'source=webhook')).toEqual([hook])
    expect(await ids(app, 'source=api')).toEqual([b, a])
    expect(await ids(app, 'q=disk')).toEqual([a])
    expect(await ids(app, 'q=cleaner')).toEqual([a])
    expect(await ids(app, `q=${encodeURIComponent('ärger')}`)).toEqual([a])
    expect(await ids(app, `q=${encodeURIComponent('0% of it_')}`)).toEqual([b])
    expect(await ids(app, 'q=nothing+of+this')).toEqual([])
    expect(await ids(app, 'environment=other&source=api&q=count')).toEqual([b])
    for (const query of ['agent_id=x', 'agent_id=0', 'source=email']) {
      expect(outcome(await app.api('GET', `/runs?${query}`)), query).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
  })

  proves('runs.list-filters', 'filters by time: since counts itself, until does not', async () => {
    let now = Date.parse('2026-03-01T12:00:00.000Z')
    await using app = await startApp({}, { clock: { ...systemClock, now: () => now }, idle: true })
    const { id } = await createAgent(app)
    const noon = await startRun(app, id, 'at noon')
    now += 60_000
    const later = await startRun(app, id, 'a minute later')
    expect(await ids(app, 'since=2026-03-01T12:00:00.000Z')).toEqual([later, noon])
    expect(await ids(app, 'since=2026-03-01T12:00:00.001Z')).toEqual([later])
    expect(await ids(app, 'until=2026-03-01T12:01:00Z')).toEqual([noon])
    expect(await ids(app, 'since=2026-03-01&until=2026-03-02')).toEqual([later, noon])
    expect(await ids(app, 'until=2026-03-01')).toEqual([])
    expect(await ids(app, `since=${encodeURIComponent('2026-03-01T13:01:00+01:00')}`)).toEqual([later])
    for (const time of ['yesterday', '1772366400000', '2026-13-01', '2026-03-01T25:00:00Z', '12:00', '']) {
      const answer = await app.api('GET', `/runs?since=${time}`)
      expect(outcome(answer), time).toEqual(refusal(400, 'INVALID_REQUEST'))
      expect(answer.body.error.details).toMatchObject([{ path: '/query/since' }])
    }
  })

  test('keeps its filters in Link', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app)
    for (let count = 0; count < 3; count++) await startRun(app, id, 'Hello.')
    const query = 'limit=1&status=running&since=2026-01-01T00:00:00Z&q=hello'
    const { headers } = await app.api('GET', `/runs?${query}`)
    const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    const followed = await app.api('GET', next.replace('/api/v1', ''))
    expect(followed).toMatchObject({ status: 200, body: { pagination: { page: 2, limit: 1, total: 3 } } })
  })

  proves('runs.list-no-payloads', 'is answered although the steps cannot be read at all', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Hello.'))
    const other = new DatabaseSync(join(app.home, 'data', 'agenthost.sqlite'))
    other.exec('ALTER TABLE steps RENAME TO hidden')
    other.close()
    for (const query of ['', '?status=completed', `?agent_id=${id}`, '?q=hello', '?since=2020-01-01']) {
      const { status, body } = await app.api('GET', `/runs${query}`)
      expect({ status, ids: body.data?.map((item: { id: number }) => item.id) }).toEqual({ status: 200, ids: [run.id] })
      expect(body.data[0]).not.toHaveProperty('steps')
    }
    expect(await app.api('GET', `/runs/${run.id}`)).toMatchObject({ status: 500 })
  })
})
