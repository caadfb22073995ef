// Every misbehaving tool server over HTTP through the whole service: calls of it end in time with words that say what
// happened, runs of others notice nothing, and no secret goes where it does not belong.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import type { HttpFault } from '../support/misbehaving/http-faults.ts'
import { ALWAYS, IN_CALLS } from '../support/misbehaving/http-outcomes.ts'
import { type MisbehavingHttp, startMisbehavingHttp } from '../support/misbehaving/http-server.ts'
import { type MeasuredService, startMeasuredService } from '../support/misbehaving/measured-service.ts'
import type { Outcome } from '../support/misbehaving/outcomes.ts'
import { isCallOf } from '../support/misbehaving/protocol.ts'
import { type Place, placeIn, type Trial, tryOut } from '../support/misbehaving/trial.ts'
import { expectDown, expectOutcome, expectUp } from '../support/misbehaving/verdict.ts'

const SECRET = 'loose-lips-4711'
const HUGE: readonly HttpFault[] = ['huge-body', 'huge-event']
/** While it is at it, garbage included: a whole answer alone has 100 MB. */
const MOST_PEAK = 384 * 1024 * 1024

async function tryHttp(place: Place, server: MisbehavingHttp, outcome: Outcome): Promise<Trial> {
  const headers = { Authorization: `Bearer ${SECRET}`, 'X-Api-Key': SECRET }
  const entry = { url: server.url, headers }
  const trial = await tryOut(place, { entry, connects: outcome.down === undefined, tool: 'fault' })
  expectOutcome(trial, outcome)
  await (outcome.down ? expectDown(trial, outcome.down) : expectUp(trial, outcome))
  expect(JSON.stringify([trial, await trial.server()])).not.toContain(SECRET)
  expect(server.requests.filter(({ where }) => where === 'here').length).toBeGreaterThan(0)
  expect(server.requests.filter(({ where }) => where === 'elsewhere')).toEqual([])
  return trial
}

const cases = (outcomes: Partial<Record<HttpFault, Outcome>>) =>
  (Object.entries(outcomes) as [HttpFault, Outcome][]).filter(([fault]) => !HUGE.includes(fault))

describe.concurrent('a server that always', () => {
  test.for(cases(ALWAYS))('%s', async ([fault, outcome]) => {
    await using server = await startMisbehavingHttp(fault, { when: 'always' })
    await using app = await startApp()
    await tryHttp(placeIn(app), server, outcome)
  })
})

describe.concurrent('a server that in calls', () => {
  test.for(cases(IN_CALLS))('%s', async ([fault, outcome]) => {
    await using server = await startMisbehavingHttp(fault, { when: 'call' })
    await using app = await startApp()
    await tryHttp(placeIn(app), server, outcome)
  })
})

describe('a service process with a server that', () => {
  let service: MeasuredService
  beforeAll(async () => {
    service = await startMeasuredService()
  })
  afterAll(() => service[Symbol.asyncDispose]())

  test.for(HUGE)('%s', async (fault) => {
    await using server = await startMisbehavingHttp(fault)
    const { runOf } = await tryHttp(service.place(fault), server, IN_CALLS[fault] as Outcome)
    for (let more = 0; more < 3; more++) await runOf('call fault {}')
    await service.settled()
    expect(service.peak()).toBeLessThan(MOST_PEAK)
  })
})

describe('a forgotten session', () => {
  /** Whose calls the server has looked at. */
  const made = ({ requests }: MisbehavingHttp, tool: string) =>
    requests.filter(({ message, status }) => isCallOf(tool, message) && status() === 200)

  test('costs a call nothing that anybody sees, and it is made once', async () => {
    await using server = await startMisbehavingHttp('loses-sessions')
    await using app = await startApp()
    const { runOf } = await tryOut(placeIn(app), { entry: { url: server.url }, connects: true, tool: 'fault' })
    const before = made(server, 'fault').length
    const { steps } = await runOf('call fault {}\n'.repeat(10))
    const calls = steps.filter(({ type }) => type === 'tool')
    expect(calls.map(({ status, attempts }) => ({ status, attempts }))).toEqual(
      Array(10).fill({ status: 'completed', attempts: 1 }),
    )
    expect(made(server, 'fault').length - before).toBe(10)
  })

  test('costs ten calls at once nothing either', async () => {
    await using server = await startMisbehavingHttp('loses-sessions', { callsPerSession: 7 })
    await using app = await startApp()
    const { runOf } = await tryOut(placeIn(app), { entry: { url: server.url }, connects: true, tool: 'fault' })
    const before = made(server, 'fault').length
    const runs = await Promise.all(Array.from({ length: 10 }, () => runOf('call fault {}')))
    expect(runs.map(({ steps }) => steps[1]?.error)).toEqual(Array(10).fill(null))
    expect(made(server, 'fault').length - before).toBe(10)
  })
})
