// Every way a run can end, and what its record says then.
import { describe, expect, test, vi } from 'vitest'
import { RUN_FAILURES } from '../../src/contract/run.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { calls, fails, hangs, says, startModelServer } from '../support/model-server.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { proves } from './proves.ts'

const cancel = (app: TestApp, id: number) => app.api('POST', `/runs/${id}/cancel`)

describe('completed', () => {
  proves('runs.status', 'a run is running, then completed with its final text', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    expect(await readRun(app, run)).toMatchObject({ status: 'running', phase: 'executing', result: null })
    gate.open()
    expect(await endedRun(app, run)).toMatchObject({
      ...{ status: 'completed', phase: null, error: null, result: 'gate: through' },
      ...{ steps_count: 3, tool_calls_count: 1, attempts: 1 },
    })
  })
})

describe('limits', () => {
  proves('engine.max-steps', 'after max_steps model turns a run ends with MAX_STEPS_REACHED', async () => {
    await using server = await startModelServer(() => calls(['gate', {}]))
    const gate = createGate()
    gate.open()
    await using app = await startApp({ SVC_AI_BASE_URL: server.url }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app, { max_steps: 3 })
    const run = await endedRun(app, await startRun(app, id, 'Go on for ever.'))
    expect(run).toMatchObject({ status: 'error', error: { code: 'MAX_STEPS_REACHED' }, result: null })
    expect(run.error?.message).toContain('3')
    expect(server.requests).toHaveLength(3)
    expect(run.steps.filter(({ type }) => type === 'model')).toHaveLength(3)
    expect(gate.calls, 'what nobody will read is not asked').toHaveLength(2)
  })

  proves('engine.max-steps', 'max_steps is 25 when the agent says nothing', async () => {
    await using server = await startModelServer(() => calls(['gate', {}]))
    const gate = createGate()
    gate.open()
    await using app = await startApp({ SVC_AI_BASE_URL: server.url }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Go on for ever.'))
    expect(run.error?.code).toBe('MAX_STEPS_REACHED')
    expect(server.requests).toHaveLength(25)
  })

  proves(
    'engine.timeout',
    'after timeout_seconds of executing a run ends with RUN_TIMEOUT, its calls aborted',
    async () => {
      const gate = createGate()
      await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
      const { id, timeout_seconds } = await createAgent(app)
      expect(timeout_seconds).toBe(900)
      const run = await endedRun(app, await startRun(app, id, 'call gate {}', { timeout_seconds: 1 }))
      expect(run).toMatchObject({ status: 'error', error: { code: 'RUN_TIMEOUT' } })
      expect(gate.signals[0]?.aborted).toBe(true)
      expect(run.steps.at(-1)).toMatchObject({ type: 'tool', status: 'unknown' })
      expect(run.duration_ms).toBeGreaterThanOrEqual(950)
    },
  )

  proves('engine.timeout-consumed', 'time in the queue does not count', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const queued = await startRun(app, id, 'answer', { timeout_seconds: 1 })
    await vi.waitFor(async () => {
      const { created_at } = await readRun(app, queued)
      expect(Date.now() - Date.parse(created_at)).toBeGreaterThan(1500)
    }, 5000)
    gate.open()
    expect(await endedRun(app, queued)).toMatchObject({ status: 'completed' })
  })
})

describe('cancelling', () => {
  proves('runs.cancel-ends', 'a cancel aborts the tool call in flight and ends the run as CANCELLED', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    expect((await cancel(app, run)).status).toBe(202)
    expect(await endedRun(app, run)).toMatchObject({ status: 'error', error: { code: 'CANCELLED' }, phase: null })
    expect(gate.signals[0]?.aborted).toBe(true)
    expect((await readRun(app, run)).steps.at(-1)).toMatchObject({ type: 'tool', status: 'unknown' })
  })

  proves('runs.cancel-ends', 'a cancel aborts the model call in flight', async () => {
    await using server = await startModelServer([hangs()])
    await using app = await startApp({ SVC_AI_BASE_URL: server.url })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'Think.')
    const request = await server.received(1)
    await cancel(app, run)
    await request.gone
    expect(await endedRun(app, run)).toMatchObject({ status: 'error', error: { code: 'CANCELLED' } })
    expect((await readRun(app, run)).steps).toMatchObject([{ type: 'model', status: 'error' }])
  })

  proves('runs.cancel-ends', 'a waiting run is cancelled at once, though no slot is free', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const waiting = await startRun(app, id, 'call gate {}')
    await cancel(app, waiting)
    expect(await endedRun(app, waiting)).toMatchObject({ error: { code: 'CANCELLED' }, steps: [] })
    expect(gate.calls).toHaveLength(1)
    gate.open()
  })
})

describe('failing', () => {
  proves(
    ['runs.failure-codes', 'runs.record-error'],
    'every failed run has one of the six codes and a reason',
    async () => {
      expect([...RUN_FAILURES].sort()).toEqual([
        ...['CANCELLED', 'INTERNAL_ERROR', 'MAX_STEPS_REACHED', 'MODEL_ERROR', 'RUN_TIMEOUT', 'TOOLS_UNAVAILABLE'],
      ])
      await using app = await startApp()
      const { id } = await createAgent(app, { tools: ['search', 'fetch'] })
      const run = await endedRun(app, await startRun(app, id, 'Search.'))
      expect(run).toMatchObject({ status: 'error', error: { code: 'TOOLS_UNAVAILABLE' } })
      expect(run.error?.message).toMatch(/search, fetch/)
    },
  )

  proves(
    'models.key-missing',
    'an agent whose model has no key ends with MODEL_ERROR naming the variable',
    async () => {
      await using app = await startApp()
      const { id } = await createAgent(app, { model: 'anthropic/claude-opus-4-1' })
      const run = await endedRun(app, await startRun(app, id, 'Hello.'))
      expect(run).toMatchObject({ status: 'error', model: 'anthropic/claude-opus-4-1', error: { code: 'MODEL_ERROR' } })
      expect(run.error?.message).toContain('ANTHROPIC_API_KEY')
      expect(run.steps).toMatchObject([{ type: 'model', status: 'error', error: run.error?.message }])
    },
  )

  proves('engine.model-error', 'a model that keeps failing ends the run with MODEL_ERROR that says so', async () => {
    await using server = await startModelServer(() => fails(503))
    await using app = await startApp({ SVC_AI_BASE_URL: server.url })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Hello.'))
    expect(run).toMatchObject({ status: 'error', error: { code: 'MODEL_ERROR' }, result: null })
    expect(run.error?.message).toMatch(/503/)
    expect(run.steps).toMatchObject([{ type: 'model', status: 'error', attempts: 5 }])
    expect(server.requests).toHaveLength(5)
  })

  proves('engine.model-error', 'a key that the provider refuses ends the run at once', async () => {
    await using server = await startModelServer(() => fails(401))
    await using app = await startApp({ SVC_AI_BASE_URL: server.url, OPENAI_API_KEY: 'sk-secret-12345' })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Hello.'))
    expect(run.error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('401') })
    expect(server.requests).toHaveLength(1)
    expect(JSON.stringify(run)).not.toContain('sk-secret-12345')
  })

  proves(
    'runs.failure-codes',
    'a mistake of our own ends the run with INTERNAL_ERROR and says nothing of the inside',
    async () => {
      const tools = { ...toolsFrom([]), offerTo: () => Promise.reject(new TypeError('secret inside')) }
      await using app = await startApp({}, { tools })
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, 'Hello.'))
      expect(run.error?.code).toBe('INTERNAL_ERROR')
      expect(JSON.stringify(run)).not.toContain('secret inside')
    },
  )

  proves('runs.step-status', 'a step is running, then completed, error or unknown', async () => {
    const gate = createGate()
    const failing = { ...createGate('failing').tool, call: () => Promise.reject(new Error('out of paper')) }
    await using app = await startApp({}, { tools: toolsFrom([gate.tool, failing]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call failing {}\ncall gate {}')
    await gate.arrived(1)
    const statuses = async () => (await readRun(app, run)).steps.map(({ name, status }) => [name, status])
    expect(await statuses()).toEqual([
      ['offline', 'completed'],
      ['failing', 'error'],
      ['offline', 'completed'],
      ['gate', 'running'],
    ])
    expect((await readRun(app, run)).steps[1]).toMatchObject({ error: 'out of paper', output: null })
    await cancel(app, run)
    await endedRun(app, run)
    expect((await statuses()).at(-1)).toEqual(['gate', 'unknown'])
  })
})

describe('tools', () => {
  test('a tool that fails, throws or is not there is an answer to the model', async () => {
    await using server = await startModelServer([calls(['broken', {}], ['absent', { a: 1 }]), says('I see.')])
    const broken = { ...createGate('broken').tool, call: async () => ({ output: 'no paper', is_error: true }) }
    await using app = await startApp({ SVC_AI_BASE_URL: server.url }, { tools: toolsFrom([broken]) })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Print.'))
    expect(run).toMatchObject({ status: 'completed', result: 'I see.' })
    expect(run.steps.map(({ name, status }) => [name, status])).toEqual(
      expect.arrayContaining([
        ['broken', 'error'],
        ['absent', 'error'],
      ]),
    )
    const told = JSON.stringify(server.requests[1]?.body.messages)
    expect(told).toContain('no paper')
    expect(told).toContain("There is no tool named 'absent'")
  })
})
