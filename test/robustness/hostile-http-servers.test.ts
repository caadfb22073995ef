// Tool servers that mean harm, over HTTP: an answer that is read as a whole is cut off at the size of a message, whatever
// the server calls it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AttackedService, slowestAnswerDuring, startAttackedService } from '../support/hostile/attacked-service.ts'
import { type Attack, endless, startHostileHttp } from '../support/hostile/http-server.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
/** The 10 MiB of a message, and what the sockets between us hold. */
const MOST_SENT = 32 * MIB
/** While it is at it, garbage included: far less than endless answers would take. */
const MOST_PEAK = 256 * MIB
const PATIENCE_MS = 5_000
const OK = { output: 'ok', is_error: false }
const EVENT_STREAM = 'text/event-stream'
/** Looks like events that end, so that no single one is too large. */
const EVENTS = `${'x'.repeat(1_000)}\n\n`.repeat(60)
const NEWLINES = '\n'.repeat(65_536)

describe('a service with a server that', () => {
  let service: AttackedService
  beforeAll(async () => {
    service = await startAttackedService()
  })
  afterAll(() => service[Symbol.asyncDispose]())

  const tooLarge = { output: 'the answer is larger than 10 MiB', is_error: true }
  const onCall = (act: Attack['act']): Attack => ({ on: 'tools/call', act })

  test.for<[what: string, attack: Attack, answer: object]>([
    ['fails with endless events', onCall(endless(500, EVENT_STREAM, EVENTS)), tooLarge],
    ['accepts with endless events', onCall(endless(202, EVENT_STREAM, EVENTS)), tooLarge],
    ['hides events in a parameter', onCall(endless(200, `application/json; a=${EVENT_STREAM}`, NEWLINES)), tooLarge],
    ['answers with endless JSON', onCall(endless(200, 'application/json', ' '.repeat(65_536))), tooLarge],
    [
      'answers a notification with endless events',
      { on: 'notifications/initialized', act: endless(200, EVENT_STREAM, EVENTS) },
      OK,
    ],
  ])('%s cuts it off', async ([, attack, answer]) => {
    await using server = await startHostileHttp(attack)
    await service.serve({ bad: { url: server.url, timeout_seconds: 20 } })
    const call = service.call('bad', 'go')
    expect(await slowestAnswerDuring(service, call)).toBeLessThan(PATIENCE_MS)
    expect(await call).toEqual(answer)
    await until('nothing is open', () => server.openRequests() === 0)
    expect(server.sent()).toBeGreaterThan(10 * MIB)
    expect(server.sent()).toBeLessThan(MOST_SENT)
    expect(service.peak()).toBeLessThan(MOST_PEAK)
  })

  test('answers with a list of messages refuses it', async () => {
    await using server = await startHostileHttp(
      onCall((response, { id }) => {
        const notice = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'
        const answer = `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(`\n [${`${notice},`.repeat(100_000)}${answer}]`)
      }),
    )
    await service.serve({ bad: { url: server.url } })
    const call = service.call('bad', 'go')
    expect(await slowestAnswerDuring(service, call)).toBeLessThan(PATIENCE_MS)
    expect(await call).toEqual({ output: 'the answer is not a message of the protocol', is_error: true })
  })
})
