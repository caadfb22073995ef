// The webhook on a real port of a real process: what is on disk when it answers, and whom it says it came from.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import { type ServiceProcess, type StartOptions, startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { proves } from './proves.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const KEY = 'canary-of-the-webhook'

interface Posted {
  status: number
  body: { run_id: number; agent_id: number; data?: RunDetail }
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Posted> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Posted['body'] }
}

async function startWithAgent(options: StartOptions): Promise<ServiceProcess> {
  const service = await startService(options)
  const { status } = await post(`${service.api}/api/v1/agents`, { name: 'helper', prompt: 'Help.' })
  expect([201, 409]).toContain(status)
  return service
}

const execute = (service: ServiceProcess, more: object = {}, headers: Record<string, string> = {}) =>
  post(`${service.agents}/execute`, { agent_name: 'helper', task: 'Say hello.', ...more }, headers)

async function readRun({ api }: ServiceProcess, id: number, wait = 0): Promise<RunDetail> {
  const response = await fetch(`${api}/api/v1/runs/${id}?wait=${wait}`)
  return ((await response.json()) as { data: RunDetail }).data
}

describe('a 202', () => {
  proves(
    'webhook.accepted-after-commit',
    'comes only when the run is on disk: whatever was answered is there after kill -9',
    async () => {
      await using home = await temporaryFolder()
      const killed = await startWithAgent({ home: home.path })
      const answered: number[] = []
      const dead = Promise.withResolvers<unknown>()
      const calls = Array.from({ length: 40 }, () =>
        execute(killed, { task: 'sleep 60000' }).then(({ body }) => {
          // The first answer kills the process, while others are on their way.
          if (answered.push(body.run_id) === 1) dead.resolve(killed.end('SIGKILL'))
        }),
      )
      await Promise.allSettled(calls)
      expect(await dead.promise).toMatchObject({ signal: 'SIGKILL' })
      await using next = await startService({ home: home.path })
      for (const id of answered) expect(await readRun(next, id)).toMatchObject({ id, status: 'running' })
    },
  )

  proves('webhook.row-is-truth', 'is kept although the wake-up of its run died with the process', async () => {
    await using home = await temporaryFolder()
    const env = { SVC_MAX_CONCURRENT_RUNS: '1' }
    const killed = await startWithAgent({ home: home.path, env })
    await execute(killed, { task: 'sleep 3600000' })
    const { body } = await execute(killed, { task: 'Say hello.' })
    expect(await readRun(killed, body.run_id)).toMatchObject({ phase: 'queued' })
    await killed.end('SIGKILL')
    await using next = await startService({ home: home.path })
    expect(await readRun(next, body.run_id, 25)).toMatchObject({ status: 'completed', attempts: 1 })
  })
})

describe('where a run came from', () => {
  proves(
    ['webhook.source', 'runs.record-source'],
    'is what the connection says: kept with the run, and logged',
    async () => {
      await using home = await temporaryFolder()
      await using service = await startWithAgent({ home: home.path })
      const headers = { 'user-agent': `alertmanager/${'0'.repeat(600)}`, 'x-request-id': 'alert-7' }
      const { body } = await execute(service, {}, headers)
      const { source } = await readRun(service, body.run_id)
      expect(source).toEqual({
        ...{ type: 'webhook', principal: null, request_id: 'alert-7' },
        address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
        user_agent: headers['user-agent'].slice(0, 512),
      })
      const logged = () =>
        service
          .stderr()
          .split('\n')
          .find((line) => line.includes('run accepted'))
      const line = await until('the run is in the log', logged)
      expect(JSON.parse(line)).toMatchObject({ run_id: body.run_id, source })
      const rest = await post(`${service.api}/api/v1/agents/${body.agent_id}/run?wait=20`, { task: 'Hi.' }, headers)
      expect(rest.body.data?.source).toEqual({ ...source, type: 'api' })
    },
  )

  proves('webhook.source-not-settable', 'is nothing that a body, a variable or a header can say', async () => {
    await using home = await temporaryFolder()
    await using service = await startWithAgent({ home: home.path })
    const forged = {
      type: 'ui',
      principal: 'admin',
      address: '203.0.113.9',
      user_agent: 'forged',
      request_id: 'forged',
    }
    const texts = { source: JSON.stringify(forged), principal: 'admin', address: '203.0.113.9', 'source.type': 'ui' }
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' }
    const { body } = await execute(service, { source: forged, ...forged, variables: texts }, headers)
    const run = await readRun(service, body.run_id)
    expect(run.variables).toEqual(texts)
    expect(run.source).toMatchObject({ type: 'webhook', principal: null })
    expect(JSON.stringify(run.source)).not.toMatch(/203\.0\.113\.9|forged|admin/)
  })

  test('is what a trusted proxy in front saw, not what the client wrote before it', async () => {
    await using home = await temporaryFolder()
    await using service = await startWithAgent({ home: home.path, env: { SVC_TRUST_PROXY: 'true' } })
    const addressFor = async (forwarded: string) => {
      const { body } = await execute(service, {}, { 'x-forwarded-for': forwarded })
      return (await readRun(service, body.run_id)).source.address
    }
    expect(await addressFor('198.51.100.4')).toBe('198.51.100.4')
    expect(await addressFor('203.0.113.9, 198.51.100.4')).toBe('198.51.100.4')
    expect(await addressFor('203.0.113.9, 198.51.100.4:5123')).toBe('198.51.100.4')
    expect(await addressFor('203.0.113.9,[2001:db8::7]:443')).toBe('2001:db8::7')
    for (const rubbish of ['unknown', '203.0.113.9, _hidden', "'; DROP TABLE runs", '999.1.1.1']) {
      expect(await addressFor(rubbish), rubbish).toMatch(/^(127\.0\.0\.1|::1)$/)
    }
  })
})

describe('the key on the wire', () => {
  /** A request as bytes, and the whole answer. */
  async function ask(service: ServiceProcess, lines: string[], body = ''): Promise<string> {
    const socket = connect(Number(new URL(service.agents).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write([...lines, `Content-Length: ${body.length}`, 'Connection: close', '', body].join('\r\n'))
    return text(socket)
  }
  const BODY = JSON.stringify({ agent_name: 'helper', task: 'Say hello.' })
  const HEAD = ['POST /execute HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']

  proves(
    ['webhook.key', 'webhook.key-wrong'],
    'is one header with one key, and never appears in a log or an answer',
    async () => {
      await using home = await temporaryFolder()
      const env = { SVC_WEBHOOK_API_KEY: KEY, SVC_LOG_LEVEL: 'trace' }
      await using service = await startWithAgent({ home: home.path, env })
      const right = `Authorization: Bearer ${KEY}`
      const answers = [
        await ask(service, [...HEAD, right], BODY),
        await ask(service, [...HEAD, right, 'Authorization: Bearer other'], BODY),
        await ask(service, [...HEAD, 'Authorization: Bearer other', right], BODY),
        await ask(service, [...HEAD, `Authorization: Basic ${KEY}`], BODY),
      ]
      expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['202', '401', '401', '401'])
      expect(answers[1]).toMatch(/\r\nwww-authenticate: bearer\r\n/i)
      expect(answers.join('') + service.stderr() + service.stdout()).not.toContain(KEY)
    },
  )

  test('may have letters of any language, which travel as UTF-8', async () => {
    await using home = await temporaryFolder()
    await using service = await startWithAgent({ home: home.path, env: { SVC_WEBHOOK_API_KEY: 'schlüssel-鍵' } })
    const statusOf = async (key: string) =>
      (await ask(service, [...HEAD, `Authorization: Bearer ${key}`], BODY)).slice(9, 12)
    expect(await statusOf('schlüssel-鍵')).toBe('202')
    expect(await statusOf('schlussel-鍵')).toBe('401')
  })

  test('two Host headers, an encoded path and an absolute address are no way around the guard', async () => {
    await using home = await temporaryFolder()
    await using service = await startWithAgent({ home: home.path })
    const head = (target: string, ...hosts: string[]) => [
      `POST ${target} HTTP/1.1`,
      ...hosts.map((host) => `Host: ${host}`),
      'Content-Type: application/json',
    ]
    const statusOf = async (lines: string[]) => (await ask(service, lines, BODY)).slice(9, 12)
    expect(await statusOf(head('/execute', 'localhost', 'evil.test'))).not.toBe('202')
    expect(await statusOf(head('/execute', 'evil.test', 'localhost'))).not.toBe('202')
    expect(await statusOf(head('/%65xecute', 'evil.test'))).not.toBe('202')
    expect(await statusOf(head('http://localhost/execute', 'evil.test'))).toBe('403')
    expect(await statusOf(head('/execute?x=1', 'localhost'))).toBe('202')
  })

  test('a body that comes in pieces without a length is taken, and refused when it grows too large', async () => {
    await using home = await temporaryFolder()
    await using service = await startWithAgent({ home: home.path })
    const send = async (pieces: string[]) => {
      const body = new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
          controller.close()
        },
      })
      const request = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' as const }
      const response = await fetch(`${service.agents}/execute`, request)
      await response.text()
      return response.status
    }
    expect(await send([BODY.slice(0, 9), BODY.slice(9)])).toBe(202)
    expect(await send([BODY, ' '.repeat(700_000), ' '.repeat(700_000)])).toBe(413)
    expect(await send([BODY])).toBe(202)
  })
})
