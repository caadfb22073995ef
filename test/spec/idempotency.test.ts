// Idempotency-Key on both ways to start a run: the same request again is the same run.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Answer, startApp, type TestApp } from '../support/app.ts'
import { createAgent, outcome, refusal } from '../support/rest-calls.ts'
import { startService } from '../support/service-process.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { countRuns, execute, no, said } from '../support/webhook-calls.ts'
import { proves } from './proves.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const TASK = 'Say hello.'

type Send = (app: TestApp, body: object, key?: string) => Promise<Answer>

const header = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key }

/** Both take the body of a run of agent 1; what they answer is compared without the envelope. */
const overWebhook: Send = (app, body, key) => execute(app, { agent_id: 1, ...body }, { headers: header(key) })
const overRest: Send = async (app, body, key) => {
  const answer = await app.api('POST', '/agents/1/run', body, header(key))
  return { ...answer, body: answer.body.data ?? { error: answer.body.error.code } }
}
const WAYS: [string, Send][] = [
  ['webhook', overWebhook],
  ['REST', overRest],
]
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed')

proves('idempotency.replay', 'the same key and body give the first answer again, and no second run', async () => {
  for (const [way, send] of WAYS) {
    await using app = await startApp()
    await createAgent(app, { prompt: '{{a}}{{b}}' })
    const body = { task: TASK, variables: { a: '1', b: '2' } }
    const first = await send(app, body, 'one')
    const second = await send(app, body, 'one')
    expect({ status: first.status, replayed: isReplayed(first) }, way).toEqual({ status: 202, replayed: null })
    expect({ status: second.status, replayed: isReplayed(second) }, way).toEqual({ status: 202, replayed: 'true' })
    expect(second.body, way).toEqual(first.body)
    // The same JSON in another spelling is the same body.
    const third = await send(app, { variables: { b: '2', a: '1' }, task: TASK }, 'one')
    expect({ body: third.body, replayed: isReplayed(third) }, way).toEqual({ body: first.body, replayed: 'true' })
    expect(await countRuns(app), way).toBe(1)
  }
})

proves('idempotency.replay', 'twenty at once are one run, with one answer that is not a replay', async () => {
  for (const [way, send] of WAYS) {
    await using app = await startApp()
    await createAgent(app)
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(app, { task: TASK }, 'one')))
    expect(new Set(answers.map(({ body }) => body.run_id)).size, way).toBe(1)
    expect(answers.filter((answer) => !isReplayed(answer)).length, way).toBe(1)
    expect(await countRuns(app), way).toBe(1)
  }
})

proves('idempotency.replay', 'the first answer comes again when agent and run have long moved on', async () => {
  await using app = await startApp()
  await createAgent(app)
  const first = await overRest(app, { task: TASK }, 'one')
  await app.api('GET', `/runs/${first.body.run_id}?wait=20`)
  await app.api('DELETE', '/agents/1')
  const again = await overRest(app, { task: TASK }, 'one')
  expect(again.body).toEqual(first.body)
  expect(again.headers.get('location')).toBe(`/api/v1/runs/${first.body.run_id}`)
  expect(await overRest(app, { task: TASK }, 'two')).toMatchObject({ status: 404 })
})

test('with wait a repeated request waits for the run there is', async () => {
  await using app = await startApp()
  await createAgent(app)
  const send = () => app.api('POST', '/agents/1/run?wait=20', { task: TASK }, header('one'))
  const [first, second] = [await send(), await send()]
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.body).toEqual(first.body)
  expect([isReplayed(first), isReplayed(second)]).toEqual([null, 'true'])
})

proves('idempotency.reused', 'the same key with another body is 422, and starts nothing', async () => {
  await using app = await startApp()
  await createAgent(app)
  await overRest(app, { task: TASK }, 'one')
  await overWebhook(app, { task: TASK }, 'one')
  for (const body of [{ task: 'Another.' }, { task: TASK, variables: { a: '1' } }, { task: `${TASK} ` }]) {
    const rest = await app.api('POST', '/agents/1/run', body, header('one'))
    expect(outcome(rest)).toEqual(refusal(422, 'IDEMPOTENCY_KEY_REUSED'))
    expect(said(await overWebhook(app, body, 'one'))).toEqual(no(422, 'idempotency key reused', /Idempotency-Key/))
  }
  // A field that means nothing to us may mean something to the sender.
  expect(await overWebhook(app, { task: TASK, alert: 2 }, 'one')).toMatchObject({ status: 422 })
  expect(await countRuns(app)).toBe(2)
})

proves('idempotency.kept', 'a key has 1 to 255 printable characters', async () => {
  await using app = await startApp({}, { idle: true })
  await createAgent(app)
  for (const [way, send] of WAYS) {
    for (const key of ['x', 'y'.repeat(255), 'with spaces and "quotes"', '~']) {
      expect(await send(app, { task: TASK }, key), `${way} ${key}`).toMatchObject({ status: 202 })
    }
    for (const key of ['', 'z'.repeat(256), 'schlüssel', 'tab\there']) {
      expect(await send(app, { task: TASK }, key), `${way} ${key}`).toMatchObject({ status: 400 })
    }
  }
  expect(await countRuns(app)).toBe(8)
})

proves('idempotency.kept', 'a key is remembered for 24 hours, and new after that', async () => {
  let passed = 0
  const clock = { ...systemClock, now: () => systemClock.now() + passed }
  await using app = await startApp({}, { clock, idle: true })
  await createAgent(app)
  const first = await overWebhook(app, { task: TASK }, 'one')
  passed = DAY_MS - 60_000
  expect((await overWebhook(app, { task: TASK }, 'one')).body).toEqual(first.body)
  passed = DAY_MS + 60_000
  const later = await overWebhook(app, { task: 'Another.' }, 'one')
  expect({ status: later.status, replayed: isReplayed(later) }).toEqual({ status: 202, replayed: null })
  expect(later.body.run_id).not.toBe(first.body.run_id)
})

proves('idempotency.kept', 'a key outlives the process', async () => {
  await using home = await temporaryFolder()
  const send = async (address: string) => {
    const headers = { 'content-type': 'application/json', ...header('one') }
    const body = JSON.stringify({ agent_name: 'helper', task: TASK })
    const response = await fetch(`${address}/execute`, { method: 'POST', headers, body })
    return { answer: await response.json(), replayed: response.headers.get('idempotency-replayed') }
  }
  const killed = await startService({ home: home.path })
  const agent = { name: 'helper', prompt: 'Help.' }
  const headers = { 'content-type': 'application/json' }
  await fetch(`${killed.api}/api/v1/agents`, { method: 'POST', headers, body: JSON.stringify(agent) })
  const first = await send(killed.agents)
  await killed.end('SIGKILL')
  await using next = await startService({ home: home.path })
  expect(await send(next.agents)).toEqual({ answer: first.answer, replayed: 'true' })
})

proves('idempotency.by-principal-and-route', 'one key on two routes, or of two agents, is two keys', async () => {
  await using app = await startApp({}, { idle: true })
  await createAgent(app)
  const other = await createAgent(app, { name: 'other' })
  const answers = [
    await overWebhook(app, { task: TASK }, 'one'),
    await overRest(app, { task: TASK }, 'one'),
    await app.api('POST', `/agents/${other.id}/run`, { task: 'Another.' }, header('one')),
  ]
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
  expect(answers.map(isReplayed)).toEqual([null, null, null])
  expect(await countRuns(app)).toBe(3)
})

proves('idempotency.by-principal-and-route', 'one key of two principals is two keys', async () => {
  await using home = await temporaryFolder()
  const send = async (env: Record<string, string>, more: Record<string, string>) => {
    await using service = await startService({ home: home.path, env })
    const headers = { 'content-type': 'application/json', ...header('one'), ...more }
    const agent = JSON.stringify({ name: 'helper', prompt: 'Help.' })
    await fetch(`${service.api}/api/v1/agents`, { method: 'POST', headers, body: agent })
    const body = JSON.stringify({ agent_name: 'helper', task: TASK })
    const response = await fetch(`${service.agents}/execute`, { method: 'POST', headers, body })
    return { status: response.status, replayed: response.headers.get('idempotency-replayed') }
  }
  const key = { SVC_WEBHOOK_API_KEY: 'secret' }
  expect(await send({}, {})).toEqual({ status: 202, replayed: null })
  expect(await send(key, { authorization: 'Bearer secret' })).toEqual({ status: 202, replayed: null })
  expect(await send({}, {})).toEqual({ status: 202, replayed: 'true' })
})

proves('idempotency.only-successes', 'a request that failed has not used up its key', async () => {
  for (const [way, send] of WAYS) {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app, { prompt: '{{city}}', enabled: false })
    const body = { task: TASK, variables: { city: 'Graz' } }
    expect(await send(app, body, 'one'), way).toMatchObject({ status: 404 })
    await app.api('PUT', `/agents/${id}`, { enabled: true })
    expect(await send(app, { task: '' }, 'one'), way).toMatchObject({ status: 400 })
    expect(await send(app, { task: TASK }, 'one'), way).toMatchObject({ status: 400 })
    const lock = holdDatabase(app)
    expect(await send(app, body, 'one'), way).toMatchObject({ status: 503 })
    lock.close()
    const done = await send(app, body, 'one')
    expect({ status: done.status, replayed: isReplayed(done) }, way).toEqual({ status: 202, replayed: null })
  }
})
