// How many runs execute at once, whose turn it is, and when a slot goes back.
import { describe, expect, vi } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { proves } from './proves.ts'

const CALL = 'call gate {}'

const startMany = (app: TestApp, agentId: number, count: number, task = CALL) =>
  Promise.all(Array.from({ length: count }, () => startRun(app, agentId, task)))

const phases = async (app: TestApp): Promise<Record<string, number>> => {
  const { body } = await app.api('GET', '/runs?limit=100&status=running')
  return count(body.data)
}

function count(runs: { phase: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { phase } of runs) counts[phase] = (counts[phase] ?? 0) + 1
  return counts
}

describe('slots', () => {
  proves('engine.process-slots', '32 runs execute in one process, the others wait', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const runs = await startMany(app, id, 40)
    await gate.arrived(32)
    await vi.waitFor(async () => expect(await phases(app)).toEqual({ executing: 32, queued: 8 }))
    expect(gate.calls).toHaveLength(32)
    gate.open()
    for (const run of runs) expect(await endedRun(app, run)).toMatchObject({ status: 'completed' })
  })

  proves('engine.process-slots', 'SVC_MAX_CONCURRENT_RUNS sets another number', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '3' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    await startMany(app, id, 5)
    await gate.arrived(3)
    expect(await phases(app)).toEqual({ executing: 3, queued: 2 })
    gate.open(0)
    await gate.arrived(4)
    await vi.waitFor(async () => expect(await phases(app)).toEqual({ executing: 3, queued: 1 }))
    gate.open()
  })

  proves('engine.agent-slots', 'max_concurrency runs of an agent execute, while other agents go on', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const narrow = await createAgent(app, { name: 'narrow', max_concurrency: 2 })
    const wide = await createAgent(app, { name: 'wide' })
    const held = await startMany(app, narrow.id, 5)
    await gate.arrived(2)
    const free = await startRun(app, wide.id, 'no tools at all')
    expect(await endedRun(app, free)).toMatchObject({ status: 'completed' })
    expect(gate.calls).toHaveLength(2)
    expect(await phases(app)).toEqual({ executing: 2, queued: 3 })
    gate.open()
    for (const run of held) expect(await endedRun(app, run)).toMatchObject({ status: 'completed' })
  })

  proves('engine.agent-slots', 'a raised max_concurrency counts from the next start on', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const agent = await createAgent(app, { max_concurrency: 1 })
    await startMany(app, agent.id, 4)
    await gate.arrived(1)
    await app.api('PUT', `/agents/${agent.id}`, { max_concurrency: 3 })
    gate.open(0)
    await gate.arrived(4)
    expect(await phases(app)).toMatchObject({ executing: 3 })
    gate.open()
  })
})

describe('fairness', () => {
  proves('engine.fair-share', 'agents with waiting runs take turns, however many runs one of them has', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const [a, b] = [await createAgent(app, { name: 'a' }), await createAgent(app, { name: 'b' })]
    const first = await startRun(app, a.id, 'call gate {"of":"a"}')
    await gate.arrived(1)
    for (let n = 0; n < 6; n++) await startRun(app, a.id, 'call gate {"of":"a"}')
    for (let n = 0; n < 2; n++) await startRun(app, b.id, 'call gate {"of":"b"}')
    for (let call = 0; call < 5; call++) {
      gate.open(call)
      await gate.arrived(call + 2)
    }
    expect(await endedRun(app, first)).toMatchObject({ status: 'completed' })
    expect(gate.calls.slice(0, 5).filter((input) => (input as { of: string }).of === 'b')).toHaveLength(2)
    gate.open()
  })

  proves('engine.fair-share', 'an agent gives slots above three quarters back between two steps', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '4' }, { tools: toolsFrom([gate.tool]) })
    const [greedy, other] = [await createAgent(app, { name: 'greedy' }), await createAgent(app, { name: 'other' })]
    const runs = await startMany(app, greedy.id, 6, `${CALL}\n${CALL}`)
    await gate.arrived(4)
    const late = await startRun(app, other.id, 'just answer')
    expect(await readRun(app, late)).toMatchObject({ phase: 'queued' })
    // None of the greedy runs has ended when the other agent's run gets its slot.
    gate.open(0)
    expect(await endedRun(app, late)).toMatchObject({ status: 'completed' })
    for (const run of runs) expect(await readRun(app, run)).toMatchObject({ status: 'running' })
    gate.open()
    for (const run of runs) expect(await endedRun(app, run)).toMatchObject({ status: 'completed' })
  })

  proves(['engine.waiting-frees-slot', 'runs.phase'], 'a run that waits for another one holds no slot', async () => {
    const gate = createGate('ask_agent', { waits_on_run: true })
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const waiting = await startRun(app, id, 'call ask_agent {}')
    await gate.arrived(1)
    await vi.waitFor(async () => expect(await readRun(app, waiting)).toMatchObject({ phase: 'waiting' }))
    const awaited = await startRun(app, id, 'answer')
    expect(await endedRun(app, awaited)).toMatchObject({ status: 'completed' })
    expect(await readRun(app, waiting)).toMatchObject({ status: 'running', phase: 'waiting' })
    gate.open()
    expect(await endedRun(app, waiting)).toMatchObject({ status: 'completed', phase: null })
  })
})

describe('the queue', () => {
  proves('engine.queue-full', 'beyond SVC_MAX_QUEUED_RUNS waiting runs a start answers 429 QUEUE_FULL', async () => {
    const gate = createGate()
    const settings = { SVC_MAX_CONCURRENT_RUNS: '1', SVC_MAX_QUEUED_RUNS: '2' }
    await using app = await startApp(settings, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    await startRun(app, id, CALL)
    await gate.arrived(1)
    await startMany(app, id, 2)
    const refused = await app.api('POST', `/agents/${id}/run`, { task: CALL })
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'QUEUE_FULL' } } })
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    gate.open()
    await vi.waitFor(async () => expect(await phases(app)).toEqual({}))
    await startRun(app, id, CALL)
  })

  proves('engine.queue-full', 'starts that arrive together never exceed the bound', async () => {
    const gate = createGate()
    const settings = { SVC_MAX_CONCURRENT_RUNS: '1', SVC_MAX_QUEUED_RUNS: '5' }
    await using app = await startApp(settings, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    await startRun(app, id, CALL)
    await gate.arrived(1)
    const starts = Array.from({ length: 20 }, () => app.api('POST', `/agents/${id}/run`, { task: CALL }))
    const statuses = (await Promise.all(starts)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 202)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
    gate.open()
  })

  proves(
    'health.runs',
    'health counts the queued and the executing runs, and how long the oldest has waited',
    async () => {
      const gate = createGate()
      await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
      const { id } = await createAgent(app)
      await startMany(app, id, 3)
      await gate.arrived(1)
      const runs = async () => (await app.api('GET', '/health')).body.data.runs
      expect(await runs()).toMatchObject({ queued: 2, executing: 1 })
      await vi.waitFor(async () => expect((await runs()).oldest_queued_seconds).toBeGreaterThan(0), { timeout: 5000 })
      gate.open()
      await vi.waitFor(async () => expect(await runs()).toEqual({ queued: 0, executing: 0, oldest_queued_seconds: 0 }))
    },
  )
})
