// GET /runs/:id/events: a run as it happens, from wherever the reader was.
import { describe, expect, test, vi } from 'vitest'
import { run as runSchema, step as stepSchema } from '../../src/contract/run.ts'
import { startApp } from '../support/app.ts'
import { openEvents, type ServerEvent, watchRun } from '../support/events.ts'
import { createGate } from '../support/gate.ts'
import { calls, startModelServer } from '../support/model-server.ts'
import { createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { proves } from './proves.ts'

const CALLS = 'call gate {"n": 1}\ncall gate {"n": 2}'

const named = (events: ServerEvent[], name: string) => events.filter(({ event }) => event === name)
const steps = (events: ServerEvent[]) => named(events, 'step').map(({ data }) => `${data.index} ${data.status}`)

describe('the events of a run', () => {
  proves(
    ['runs.events', 'rest.event-streams-bare'],
    'are run first, then step and run as they happen, then end, without an envelope',
    async () => {
      const gate = createGate()
      await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
      const { id } = await createAgent(app)
      const run = await startRun(app, id, CALLS)
      await gate.arrived(1)
      const response = await openEvents(app, run)
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-accel-buffering')).toBe('no')
      await response.body?.cancel()

      const reader = await watchRun(app, run)
      const first = [await reader.next(), await reader.next(), await reader.next()] as ServerEvent[]
      expect(first.map(({ event }) => event)).toEqual(['run', 'step', 'step'])
      expect(first[0]?.data).toMatchObject({ id: run, status: 'running', phase: 'executing' })
      expect(steps(first)).toEqual(['0 completed', '1 running'])
      gate.open()
      const all = [...first, ...(await reader.rest())]
      for (const { event, data } of all) (event === 'step' ? stepSchema : runSchema).parse(data)
      const { steps: recorded, ...ended } = await readRun(app, run)
      expect(all.at(-1)).toMatchObject({ event: 'end', data: ended })
      expect(named(all, 'end')).toHaveLength(1)
      // The last word on every step is what the record says.
      const last = new Map(named(all, 'step').map(({ data }) => [data.index, data]))
      expect([...last.values()]).toEqual(recorded)
    },
  )

  proves('runs.events', 'tell of every change of the run itself, its phase and its cancelling', async () => {
    const gate = createGate()
    await using app = await startApp({ SVC_MAX_CONCURRENT_RUNS: '1' }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const queued = await startRun(app, id, 'call gate {}')
    const reader = await watchRun(app, queued)
    expect(await reader.next()).toMatchObject({ event: 'run', data: { phase: 'queued', steps_count: 0 } })
    gate.open(0)
    await gate.arrived(2)
    await app.api('POST', `/runs/${queued}/cancel`)
    const rest = await reader.rest()
    expect(named(rest, 'run').map(({ data }) => data.phase)).toContain('executing')
    expect(rest.at(-1)).toMatchObject({ event: 'end', data: { status: 'error', error: { code: 'CANCELLED' } } })
    expect(steps(rest)).toContain('1 unknown')
  })

  proves('runs.events', 'of a run that has ended are its steps and its end, at once', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Say hello.'))
    const events = await (await watchRun(app, run.id)).rest()
    expect(events.map(({ event }) => event)).toEqual(['run', 'step', 'end'])
    const { steps: recorded, ...record } = run
    expect(events.map(({ data }) => data)).toEqual([record, recorded[0], record])
  })

  proves(
    'runs.events-resume',
    'go on after Last-Event-ID: nothing twice, nothing lost, wherever it was cut',
    async () => {
      const gate = createGate()
      gate.open()
      await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, CALLS))
      const whole = await (await watchRun(app, run.id)).rest()
      const places = whole.filter(({ id }) => id !== undefined).map(({ id }) => Number(id))
      expect(places).toEqual(places.toSorted((one, other) => one - other))
      for (const [index, { id: place }] of whole.entries()) {
        if (place === undefined) continue
        const resumed = await (await watchRun(app, run.id, { 'last-event-id': place })).rest()
        expect(named(resumed, 'step'), place).toEqual(named(whole.slice(index + 1), 'step'))
        expect(resumed.map(({ event }) => event)).toEqual(['run', ...named(resumed, 'step').map(() => 'step'), 'end'])
      }
    },
  )

  proves('runs.events-resume', 'of steps that ended together are not lost between two of them', async () => {
    const gate = createGate()
    await using server = await startModelServer(() => calls(['gate', { n: 1 }], ['gate', { n: 2 }], ['gate', { n: 3 }]))
    await using app = await startApp({ SVC_AI_BASE_URL: server.url }, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'Call them all.')
    await gate.arrived(3)
    await app.api('POST', `/runs/${run}/cancel`)
    await endedRun(app, run)
    const whole = await (await watchRun(app, run)).rest()
    expect(steps(whole)).toEqual(['0 completed', '1 unknown', '2 unknown', '3 unknown'])
    let place = '0'
    for (const [index, event] of whole.entries()) {
      place = event.id ?? place
      const resumed = await (await watchRun(app, run, { 'last-event-id': place })).rest()
      expect(steps(resumed)).toEqual(expect.arrayContaining(steps(whole.slice(index + 1))))
    }
  })

  proves('runs.events-resume', 'are all of them when the place is one that this journal never reached', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Say hello.'))
    const whole = await (await watchRun(app, run.id)).rest()
    expect(await (await watchRun(app, run.id, { 'last-event-id': '123456' })).rest()).toEqual(whole)
  })

  proves('runs.events-resume', 'are refused with 400 when Last-Event-ID is no number', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'Say hello.')
    for (const place of ['x', '-1', '1.5', '1e3', '9007199254740993', '1, 2']) {
      const answer = await app.api('GET', `/runs/${run}/events`, undefined, { 'last-event-id': place })
      expect(outcome(answer), place).toEqual(refusal(400, 'INVALID_REQUEST'))
      expect(answer.body.error.details).toMatchObject([{ path: '/header/Last-Event-ID' }])
    }
  })

  proves('runs.events-resume', 'bring a comment every 15 seconds in which nothing happens', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const reader = await watchRun(app, run)
    try {
      const seen = [await reader.next(), await reader.next(), await reader.next()]
      expect(seen.map((event) => event?.event)).toEqual(['run', 'step', 'step'])
      for (const _ of [1, 2]) {
        const next = reader.next()
        await vi.advanceTimersByTimeAsync(15_000)
        expect(await next).toMatchObject({ event: '', data: undefined, id: undefined, comment: expect.any(String) })
      }
    } finally {
      vi.useRealTimers()
      gate.open()
    }
    expect((await reader.rest()).at(-1)).toMatchObject({ event: 'end' })
  })

  test('HEAD answers the headers, opens nothing, and knows a run that is not there', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    const head = await openEvents(app, run, {}, 'HEAD')
    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([200, 'text/event-stream', null])
    expect((await openEvents(app, 999, {}, 'HEAD')).status).toBe(404)
    gate.open()
  })
})
