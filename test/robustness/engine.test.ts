// Moments in which the engine could let go of a run, hold on to a slot, or do what nobody wants any more.
import { describe, expect, test, vi } from 'vitest'
import type { Tool } from '../../src/contract/tool.ts'
import { storageUnavailable } from '../../src/store/sqlite/failure.ts'
import type { Store } from '../../src/store/store.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { calls, says, startModelServer } from '../support/model-server.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'

const cancel = (app: TestApp, id: number) => app.api('POST', `/runs/${id}/cancel`)
const ONE_SLOT = { SVC_MAX_CONCURRENT_RUNS: '1' }

describe('a cancel', () => {
  test('between the commit of an intent and its call: the call is not made', async () => {
    const gate = createGate()
    let cancelNow = async () => {}
    const around = (store: Store): Store => ({
      ...store,
      async write(name, input) {
        const value = await store.write(name, input)
        if (name === 'recordSteps' && JSON.stringify(input).includes('"type":"tool"')) await cancelNow()
        return value
      },
    })
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]), around })
    const { id } = await createAgent(app)
    cancelNow = async () => void (await cancel(app, 1))
    const run = await endedRun(app, await startRun(app, id, 'call gate {}'))
    expect(run.error?.code).toBe('CANCELLED')
    expect(gate.calls).toEqual([])
  })
})

describe('a run that waits for another one', () => {
  test('holds no slot, though another call of the same turn waits for nobody', async () => {
    await using server = await startModelServer(({ body }) =>
      JSON.stringify(body.messages).includes('parent') && !JSON.stringify(body.messages).includes('"tool"')
        ? calls(['ask', {}], ['quick', {}])
        : says('Done.'),
    )
    const ask = createGate('ask', { waits_on_run: true })
    const quick = createGate('quick')
    quick.open()
    const settings = { ...ONE_SLOT, SVC_AI_BASE_URL: server.url }
    await using app = await startApp(settings, { tools: toolsFrom([ask.tool, quick.tool]) })
    const { id } = await createAgent(app)
    const parent = await startRun(app, id, 'I am the parent.')
    await ask.arrived(1)
    expect(await endedRun(app, await startRun(app, id, 'I am a child.'))).toMatchObject({ status: 'completed' })
    ask.open()
    expect(await endedRun(app, parent)).toMatchObject({ status: 'completed' })
  })

  test('has its answer on disk while it waits for its slot, and ends in time though no slot is free', async () => {
    const ask = createGate('ask', { waits_on_run: true })
    const hold = createGate('hold')
    await using app = await startApp(ONE_SLOT, { tools: toolsFrom([ask.tool, hold.tool]) })
    const { id } = await createAgent(app)
    const waiting = await startRun(app, id, 'call ask {}')
    await ask.arrived(1)
    const late = await startRun(app, id, 'call ask {}', { timeout_seconds: 1 })
    await ask.arrived(2)
    const holding = await startRun(app, id, 'call hold {}')
    await hold.arrived(1)
    ask.open(0)
    await vi.waitFor(async () =>
      expect((await readRun(app, waiting)).steps[1]).toMatchObject({ status: 'completed', output: 'through' }),
    )
    expect(await readRun(app, waiting)).toMatchObject({ status: 'running' })
    expect(await endedRun(app, late)).toMatchObject({ status: 'error', error: { code: 'RUN_TIMEOUT' } })
    expect(await readRun(app, holding)).toMatchObject({ status: 'running' })
    hold.open()
    ask.open()
    expect(await endedRun(app, waiting)).toMatchObject({ status: 'completed' })
  })
})

describe('tools that are not to be had', () => {
  test('a toolset that never answers keeps neither a timeout nor a cancel from ending the run', async () => {
    await using app = await startApp({}, { tools: { ...toolsFrom([]), offerTo: () => new Promise(() => {}) } })
    const { id } = await createAgent(app)
    const [late, cancelled] = [await startRun(app, id, 'x', { timeout_seconds: 1 }), await startRun(app, id, 'x')]
    await vi.waitFor(async () => expect(await readRun(app, cancelled)).toMatchObject({ phase: 'executing' }))
    await cancel(app, cancelled)
    expect((await endedRun(app, cancelled)).error?.code).toBe('CANCELLED')
    expect((await endedRun(app, late)).error?.code).toBe('RUN_TIMEOUT')
  })

  test('a toolset that meets a database outage is asked again', async () => {
    const outage = [storageUnavailable(new Error('test'))]
    const offerTo = async () => {
      const error = outage.pop()
      if (error) throw error
      return []
    }
    await using app = await startApp({}, { tools: { ...toolsFrom([]), offerTo } })
    const { id } = await createAgent(app)
    expect(await endedRun(app, await startRun(app, id, 'x'))).toMatchObject({ status: 'completed' })
  })
})

describe('too much', () => {
  const answering = (call: Tool['call']): Tool => ({ ...createGate('odd').tool, call })

  test('an error of forty megabytes is cut', async () => {
    const tool = answering(() => Promise.reject(new Error('x'.repeat(40_000_000))))
    await using app = await startApp({}, { tools: toolsFrom([tool]) })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'call odd {}'))
    expect(run.steps[1]?.error?.length).toBeLessThan(5000)
  })

  test('a run whose steps grow without end is ended, and can be read', async () => {
    const tool = answering(async () => ({ output: 'x'.repeat(2_000_000), is_error: false }))
    await using app = await startApp({}, { tools: toolsFrom([tool]) })
    const { id } = await createAgent(app, { max_steps: 100 })
    const run = await endedRun(app, await startRun(app, id, 'call odd {}\n'.repeat(40)))
    expect(run).toMatchObject({ status: 'error', error: { message: expect.stringContaining('too large') } })
    expect(JSON.stringify(run).length).toBeLessThan(20_000_000)
  })
})
