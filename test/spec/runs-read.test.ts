// GET /runs/:id: the record of a run and of its steps, while it runs and afterwards; and its cancelling.
import { describe, expect, test } from 'vitest'
import { runCancelling, runDetail, step as stepSchema } from '../../src/contract/run.ts'
import type { Tool } from '../../src/contract/tool.ts'
import { startApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { says, startModelServer } from '../support/model-server.ts'
import { createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { proves } from './proves.ts'

const TASK = 'Say hello.'

const broken: Tool = {
  ...{ name: 'broken', server: 'shelf', description: 'Fails.', input_schema: { type: 'object' }, repeat: 'never' },
  call: async () => ({ output: 'out of order', is_error: true }),
}

describe('a run', () => {
  proves(
    ['runs.get', 'runs.record', 'runs.record-outcome', 'runs.record-usage', 'runs.record-error'],
    'has exactly the fields of its record, and its steps',
    async () => {
      const gate = createGate()
      gate.open()
      await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, 'call gate {}', { variables: { a: 'b' } }))
      expect(Object.keys(run).sort()).toEqual(Object.keys(runDetail.shape).sort())
      expect(runDetail.parse(run)).toMatchObject({
        ...{ id: run.run_id, agent_id: id, agent_name: 'helper', agent_version: 1, environment: 'default' },
        ...{ task: 'call gate {}', variables: { a: 'b' }, status: 'completed', message: expect.stringMatching(/\S/) },
        ...{ result: 'gate: through', error: null, model: 'offline' },
        ...{ steps_count: 3, tool_calls_count: 1, attempts: 1 },
      })
      expect(run.usage.total_tokens).toBe(run.usage.input_tokens + run.usage.output_tokens)
      expect(run.usage.input_tokens).toBeGreaterThan(0)
      expect(run.steps).toHaveLength(3)
    },
  )

  proves(['runs.record-error', 'runs.record-outcome'], 'that failed has error with code and message', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app, { tools: ['missing'] })
    const run = await endedRun(app, await startRun(app, id, TASK))
    expect(run).toMatchObject({ status: 'error', result: null, error: { code: 'TOOLS_UNAVAILABLE' } })
    expect(Object.keys(run.error ?? {}).sort()).toEqual(['code', 'message'])
    expect(run.error?.message).toContain('missing')
  })

  proves('runs.record-usage', 'has cost_usd null when the price of its model is not known', async () => {
    await using server = await startModelServer(() => says('Hello.'))
    await using app = await startApp({ SVC_AI_BASE_URL: server.url, SVC_AI_MODEL: 'homemade' })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, TASK))
    expect(run).toMatchObject({ status: 'completed', result: 'Hello.', cost_usd: null })
    expect(run.usage.total_tokens).toBe(run.usage.input_tokens + run.usage.output_tokens)
  })

  proves('runs.record-times', 'has times from its acceptance to its end, and null for what has not come', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const before = Date.now()
    const first = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const second = await startRun(app, id, TASK)
    expect(await readRun(app, second)).toMatchObject({ started_at: null, completed_at: null, duration_ms: null })
    expect(await readRun(app, first)).toMatchObject({ started_at: expect.any(String), completed_at: null })
    gate.open()
    await endedRun(app, second)
    const { created_at, started_at, completed_at, duration_ms } = await endedRun(app, first)
    const [created, started, completed] = [created_at, started_at, completed_at].map((time) => Date.parse(time ?? ''))
    expect(created).toBeGreaterThanOrEqual(before - 1)
    expect(started).toBeGreaterThanOrEqual(created as number)
    expect(completed).toBeGreaterThanOrEqual(started as number)
    expect(duration_ms).toBe((completed as number) - (started as number))
  })

  proves('runs.record-source', 'says that it came over the API, and with which request', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const headers = { 'x-request-id': 'ticket-7', 'user-agent': `curl/${'8'.repeat(600)}` }
    const { body } = await app.api('POST', `/agents/${id}/run`, { task: TASK }, headers)
    expect((await readRun(app, body.data.run_id)).source).toEqual({
      ...{ type: 'api', principal: null, address: null, request_id: 'ticket-7' },
      user_agent: headers['user-agent'].slice(0, 512),
    })
  })

  proves('runs.phase', 'is queued, then executing, and has no phase once it ended', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const first = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const second = await startRun(app, id, 'call gate {}')
    const phases = async () => [await readRun(app, first), await readRun(app, second)].map(({ phase }) => phase)
    expect(await phases()).toEqual(['executing', 'queued'])
    gate.open()
    await endedRun(app, first)
    await endedRun(app, second)
    expect(await phases()).toEqual([null, null])
  })

  proves('runs.not-found', 'that nobody started is 404 RUN_NOT_FOUND, wherever it is asked for', async () => {
    await using app = await startApp()
    const calls: [string, string][] = [
      ['GET', '/runs/999'],
      ['GET', '/runs/999?wait=5'],
      ['GET', '/runs/999/events'],
      ['POST', '/runs/999/cancel'],
    ]
    for (const [method, path] of calls) {
      const answer = await app.api(method, path)
      expect(outcome(answer), path).toEqual(refusal(404, 'RUN_NOT_FOUND'))
      expect(answer.body.error.message).toContain('999')
    }
    for (const id of ['0', '-1', '1.5', 'x', '9007199254740993']) {
      expect(outcome(await app.api('GET', `/runs/${id}`)), id).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
  })
})

describe('waiting', () => {
  proves('runs.get-wait', 'answers as soon as the run ends', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const waiting = app.api('GET', `/runs/${run}?wait=60`)
    gate.open()
    expect((await waiting).body.data).toMatchObject({ id: run, status: 'completed' })
    const again = await app.api('GET', `/runs/${run}?wait=60`)
    expect(again.body.data.status).toBe('completed')
  })

  proves('runs.get-wait', 'answers the run as it is when the seconds are over', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    const began = performance.now()
    const { status, body } = await app.api('GET', `/runs/${run}?wait=1`)
    expect(performance.now() - began).toBeGreaterThan(900)
    expect({ status, run: body.data.status }).toEqual({ status: 200, run: 'running' })
    gate.open()
  })
})

describe('steps', () => {
  proves('runs.step-record', 'have exactly the fields of their record, model turns and tool calls alike', async () => {
    const gate = createGate()
    gate.open()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool, broken]) })
    const { id } = await createAgent(app)
    const { steps } = await endedRun(app, await startRun(app, id, 'call gate {"n": 1}\ncall broken {}'))
    for (const step of steps) {
      expect(Object.keys(step).sort()).toEqual(Object.keys(stepSchema.shape).sort())
      expect(stepSchema.parse(step)).toMatchObject({ attempts: 1, duration_ms: expect.any(Number) })
    }
    expect(steps.map(({ index, type, name, server, status }) => [index, type, name, server, status])).toEqual([
      [0, 'model', 'offline', null, 'completed'],
      [1, 'tool', 'gate', 'gates', 'completed'],
      [2, 'model', 'offline', null, 'completed'],
      [3, 'tool', 'broken', 'shelf', 'error'],
      [4, 'model', 'offline', null, 'completed'],
    ])
    expect(steps[1]).toMatchObject({ input: { n: 1 }, output: 'through', error: null, usage: null })
    expect(steps[0]?.usage).toMatchObject({ total_tokens: expect.any(Number) })
  })

  proves('runs.steps-live', 'are there while the run runs: what is done, and what is under way', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {"n": 1}\ncall gate {"n": 2}')
    const seen = async () => (await readRun(app, run)).steps.map(({ type, status }) => `${type} ${status}`)
    await gate.arrived(1)
    expect(await seen()).toEqual(['model completed', 'tool running'])
    expect((await readRun(app, run)).steps[1]).toMatchObject({ input: { n: 1 }, output: null, completed_at: null })
    gate.open(0)
    await gate.arrived(2)
    expect(await seen()).toEqual(['model completed', 'tool completed', 'model completed', 'tool running'])
    gate.open()
    expect((await endedRun(app, run)).steps).toHaveLength(5)
  })
})

describe('cancelling', () => {
  proves('runs.cancel', 'answers 202 with run_id, status and cancelling, again and again until it ends', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const { status, headers, body } = await app.api('POST', `/runs/${run}/cancel`)
    expect({ status, data: runCancelling.parse(body.data) }).toEqual({
      status: 202,
      data: { run_id: run, status: 'running', cancelling: true },
    })
    expect(Object.keys(body.data).sort()).toEqual(['cancelling', 'run_id', 'status'])
    expect(headers.get('location')).toBe(`/api/v1/runs/${run}`)
    expect(await endedRun(app, run)).toMatchObject({ status: 'error', error: { code: 'CANCELLED' } })
  })

  proves('runs.cancel-ended', 'is 409 RUN_ALREADY_FINISHED once the run has ended, however it ended', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const completed = await endedRun(app, await startRun(app, id, TASK))
    const slow = await startRun(app, id, 'sleep 60000')
    expect(await app.api('POST', `/runs/${slow}/cancel`)).toMatchObject({ status: 202 })
    await endedRun(app, slow)
    for (const run of [completed.id, slow]) {
      const answer = await app.api('POST', `/runs/${run}/cancel`)
      expect(outcome(answer)).toEqual(refusal(409, 'RUN_ALREADY_FINISHED'))
    }
    expect(await readRun(app, completed.id)).toEqual(completed)
  })

  test('that cannot be stored is 503, and the run goes on', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const lock = holdDatabase(app)
    const answer = await app.api('POST', `/runs/${run}/cancel`)
    lock.close()
    expect(outcome(answer)).toEqual(refusal(503, 'STORAGE_UNAVAILABLE'))
    gate.open()
    expect(await endedRun(app, run)).toMatchObject({ status: 'completed' })
  })
})
