// POST /agents/:id/run: what it takes, what it answers, how long it waits, and which version it runs.
import { describe, expect, test } from 'vitest'
import { runAccepted, runDetail, waitSeconds } from '../../src/contract/run.ts'
import { startApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { countRuns, execute } from '../support/webhook-calls.ts'
import { proves } from './proves.ts'

const TASK = 'Say hello.'

describe('a start', () => {
  proves('runs.start', 'answers 202 with the five fields of the webhook, and Location', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const { status, headers, body } = await app.api('POST', `/agents/${id}/run`, { task: TASK })
    expect({ status, success: body.success, error: body.error }).toEqual({ status: 202, success: true, error: null })
    expect(runAccepted.parse(body.data)).toMatchObject({ agent_id: id, agent_name: 'helper', status: 'running' })
    expect(headers.get('location')).toBe(`/api/v1/runs/${body.data.run_id}`)
    const webhook = await execute(app, { agent_id: id, task: TASK })
    expect(Object.keys(body.data).sort()).toEqual(Object.keys(webhook.body).sort())
    expect(await endedRun(app, body.data.run_id)).toMatchObject({ status: 'completed' })
  })

  test('names its run by the public address, where there is one', async () => {
    await using app = await startApp({ SVC_PUBLIC_URL_API: 'https://api.example.test/base' })
    const { id } = await createAgent(app)
    const { headers, body } = await app.api('POST', `/agents/${id}/run`, { task: TASK })
    expect(headers.get('location')).toBe(`https://api.example.test/base/api/v1/runs/${body.data.run_id}`)
  })

  proves('runs.start-body', 'takes task, variables, timeout_seconds, callback_url and Idempotency-Key', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app)
    const whole = { task: TASK, variables: { a: 'b' }, timeout_seconds: 60, callback_url: 'https://example.test/hook' }
    const send = (body: unknown) => app.api('POST', `/agents/${id}/run`, body, { 'idempotency-key': 'k' })
    const first = await send(whole)
    expect(first.status).toBe(202)
    expect((await send(whole)).headers.get('idempotency-replayed')).toBe('true')
    expect(await readRun(app, first.body.data.run_id)).toMatchObject({ task: TASK, variables: { a: 'b' } })
  })

  proves('runs.start-body', 'refuses what is not of the right kind, and fields that it does not know', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const wrong: [object, string][] = [
      [{}, '/task'],
      [{ task: '' }, '/task'],
      [{ task: 7 }, '/task'],
      [{ task: TASK, variables: { a: 1 } }, '/variables/a'],
      [{ task: TASK, variables: [] }, '/variables'],
      [{ task: TASK, timeout_seconds: 0 }, '/timeout_seconds'],
      [{ task: TASK, timeout_seconds: 1.5 }, '/timeout_seconds'],
      [{ task: TASK, callback_url: 'ftp://example.test' }, '/callback_url'],
      [{ task: TASK, agent_name: 'helper' }, '/agent_name'],
    ]
    for (const [body, path] of wrong) {
      const answer = await app.api('POST', `/agents/${id}/run`, body)
      expect(outcome(answer), JSON.stringify(body)).toEqual(refusal(400, 'INVALID_REQUEST'))
      expect(answer.body.error.details).toMatchObject([{ path }])
    }
    expect(await countRuns(app)).toBe(0)
  })

  proves('runs.input-limits', 'refuses a task over 256 KiB and a variable over 64 KiB', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app)
    const send = async (task: string, a: string) => app.api('POST', `/agents/${id}/run`, { task, variables: { a } })
    const [task, a] = ['x'.repeat(256 * 1024), 'y'.repeat(64 * 1024)]
    expect(await send(task, a)).toMatchObject({ status: 202 })
    expect((await send(`${task}x`, a)).body.error.details).toMatchObject([{ path: '/task' }])
    expect((await send(task, `${a}y`)).body.error.details).toMatchObject([{ path: '/variables/a' }])
    const kept = await readRun(app, 1)
    expect([kept.task.length, kept.variables.a?.length]).toEqual([256 * 1024, 64 * 1024])
  })

  proves(
    ['runs.start-disabled'],
    'of a disabled agent is 404 AGENT_NOT_FOUND, as of one that is not there',
    async () => {
      await using app = await startApp()
      const { id } = await createAgent(app, { enabled: false })
      const disabled = await app.api('POST', `/agents/${id}/run`, { task: TASK })
      expect(outcome(disabled)).toEqual(refusal(404, 'AGENT_NOT_FOUND'))
      expect(disabled.body.error.message).toMatch(/disabled/)
      const missing = await app.api('POST', '/agents/999/run', { task: TASK })
      expect(missing.body.error).toMatchObject({ code: 'AGENT_NOT_FOUND', message: 'Agent with ID 999 not found' })
      expect(await countRuns(app)).toBe(0)
    },
  )

  test('beyond the queue is 429 QUEUE_FULL with Retry-After', async () => {
    await using app = await startApp({ SVC_MAX_QUEUED_RUNS: '1', SVC_MAX_CONCURRENT_RUNS: '1' }, { idle: true })
    const { id } = await createAgent(app)
    const send = () => app.api('POST', `/agents/${id}/run`, { task: TASK })
    let last = await send()
    for (let call = 0; call < 5 && last.status === 202; call++) last = await send()
    expect(outcome(last)).toEqual(refusal(429, 'QUEUE_FULL'))
    expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  })
})

describe('a start with wait', () => {
  proves('runs.start-wait', 'answers 200 with the run when it ended in time', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const { status, headers, body } = await app.api('POST', `/agents/${id}/run?wait=20`, { task: 'sleep 100' })
    expect(status).toBe(200)
    expect(runDetail.parse(body.data)).toMatchObject({ status: 'completed', agent_id: id })
    expect(headers.get('location')).toBe(`/api/v1/runs/${body.data.id}`)
  })

  proves('runs.start-wait', 'answers the 202 when the time was over before', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const began = performance.now()
    const { status, body } = await app.api('POST', `/agents/${id}/run?wait=1`, { task: 'call gate {}' })
    expect(performance.now() - began).toBeGreaterThan(900)
    expect(status).toBe(202)
    expect(runAccepted.parse(body.data)).toMatchObject({ agent_id: id })
    expect(Object.keys(body.data)).toHaveLength(5)
    const at = await app.api('POST', `/agents/${id}/run?wait=0`, { task: 'call gate {}' })
    expect(at.status).toBe(202)
    gate.open()
  })

  proves('runs.start-wait', 'waits 60 seconds at most, whatever is asked for', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    expect(waitSeconds.parse(86_400)).toBe(60)
    expect(await app.api('POST', `/agents/${id}/run?wait=86400`, { task: TASK })).toMatchObject({ status: 200 })
    for (const wait of ['-1', '1.5', 'long', '']) {
      const answer = await app.api('POST', `/agents/${id}/run?wait=${wait}`, { task: TASK })
      expect(outcome(answer), wait).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
  })

  test('ends at once when the client goes away, and the run goes on', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const client = new AbortController()
    const request = new Request(`http://localhost:8585/api/v1/agents/${id}/run?wait=60`, {
      ...{ method: 'POST', body: JSON.stringify({ task: 'call gate {}' }), signal: client.signal },
      headers: { host: 'localhost:8585', 'content-type': 'application/json' },
    })
    const answer = app.fetch('api', request)
    await gate.arrived(1)
    client.abort()
    expect((await answer).status).toBe(202)
    gate.open()
    expect(await endedRun(app, 1)).toMatchObject({ status: 'completed' })
  })
})

describe('variables', () => {
  proves('prompts.task-reserved', 'named task or userInput are 400 on both ways in', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    for (const name of ['task', 'userInput']) {
      const variables = { [name]: 'forged' }
      const rest = await app.api('POST', `/agents/${id}/run`, { task: TASK, variables })
      expect(outcome(rest), name).toEqual(refusal(400, 'INVALID_REQUEST'))
      expect(rest.body.error.details).toMatchObject([{ path: '/variables' }])
      expect(await execute(app, { agent_id: id, task: TASK, variables }), name).toMatchObject({ status: 400 })
    }
    expect(await countRuns(app)).toBe(0)
  })

  proves('prompts.missing-variables', 'that the prompt needs and nobody gave are 400, named, and no run', async () => {
    await using app = await startApp()
    const prompt = '{{city}} {{street}} {{#zip}}{{zip}}{{/zip}} {{land}}'
    const { id } = await createAgent(app, { prompt, variables: [{ name: 'land', default: 'Austria' }] })
    const rest = await app.api('POST', `/agents/${id}/run`, { task: TASK, variables: { street: 'Ring' } })
    expect(outcome(rest)).toEqual(refusal(400, 'INVALID_REQUEST'))
    expect(rest.body.error.message).toContain('city')
    expect(rest.body.error.details).toEqual([{ path: '/variables/city', message: 'is required' }])
    const webhook = await execute(app, { agent_id: id, task: TASK })
    expect(webhook).toMatchObject({ status: 400, body: { error: 'invalid request' } })
    expect(webhook.body.message).toMatch(/city, street/)
    expect(webhook.body.message).not.toMatch(/zip|land/)
    expect(await countRuns(app)).toBe(0)
  })

  proves('prompts.extra-variables', 'that the prompt does not use are kept with the run', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app, { prompt: 'In {{city}}.' })
    const variables = { city: 'Graz', ticket: 'T-1', constructor: 'x' }
    const run = await endedRun(app, await startRun(app, id, TASK, { variables }))
    expect(run.variables).toEqual(variables)
    expect(run.result).toContain('In Graz.')
    expect(run.result).not.toContain('T-1')
  })
})

describe('the agent of a run', () => {
  proves('agents.pinned-version', 'is the version it started with, whatever becomes of the agent', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app, { prompt: 'The first.' })
    const before = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    await app.api('PUT', `/agents/${id}`, { name: 'renamed', prompt: 'The second.' })
    const after = await startRun(app, id, TASK)
    gate.open()
    expect(await endedRun(app, before)).toMatchObject({ agent_name: 'helper', agent_version: 1, status: 'completed' })
    const second = await endedRun(app, after)
    expect(second).toMatchObject({ agent_name: 'renamed', agent_version: 2 })
    expect(second.result).toContain('The second.')
    expect(JSON.stringify((await readRun(app, before)).steps[0]?.input)).toContain('The first.')
  })

  proves('agents.delete-running', 'may be removed while it runs: the run ends on its pinned version', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}\ncall gate {}')
    await gate.arrived(1)
    expect(await app.api('DELETE', `/agents/${id}`)).toMatchObject({ status: 200 })
    gate.open()
    expect(await endedRun(app, run)).toMatchObject({ status: 'completed', agent_id: id, agent_version: 1 })
    expect(await app.api('POST', `/agents/${id}/run`, { task: TASK })).toMatchObject({ status: 404 })
  })

  proves('agents.delete-keeps-runs', 'may be removed afterwards: its runs stay in the list and readable', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, TASK))
    await app.api('DELETE', `/agents/${id}`)
    expect(await readRun(app, run.id)).toEqual(run)
    const listed = await app.api('GET', `/runs?agent_id=${id}`)
    expect(listed.body.data).toMatchObject([{ id: run.id, agent_name: 'helper', status: 'completed' }])
    expect(listed.body.pagination.total).toBe(1)
  })
})
