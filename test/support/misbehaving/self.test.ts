// Each misbehaving server does what its fault says, and nothing else is wrong with it.
import { describe, expect, test } from 'vitest'
import { isAlive } from '../processes.ts'
import { until } from '../until.ts'
import { FAULTS, type Fault } from './faults.ts'
import type { Message } from './protocol.ts'
import { groupOf, type Talk, talkTo } from './talk.ts'

const MOST_LINE = 10 * 1024 * 1024

async function greet({ ask, tell }: Talk): Promise<Message> {
  const clientInfo = { name: 'test', version: '1' }
  const answer = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  tell('notifications/initialized')
  return answer
}

const call = (server: Talk, name: string, input: object = {}) =>
  server.ask('tools/call', { name, arguments: input }) as Promise<Message & { result: { isError: boolean } }>
const startFault = (server: Talk) => server.send('tools/call', { name: 'fault', arguments: {} })
const text = ({ result }: Message) => (result as { content: { text: string }[] }).content[0]?.text ?? ''
const tools = async (server: Talk) =>
  ((await server.ask('tools/list')).result as { tools: { name: string; inputSchema?: object }[] }).tools
const names = async (server: Talk) => (await tools(server)).map(({ name }) => name)
const isOk = async (server: Talk) => expect(text(await call(server, 'ok'))).toBe('ok')
const endOfInput = ({ child }: Talk) => child.stdin?.end()

/** What does not come is not there once something later is. */
async function getsNoAnswer(server: Talk, id: number): Promise<void> {
  await isOk(server)
  expect(server.heard(id)).toEqual([])
}

type Facts = Partial<Record<Fault, (server: Talk) => Promise<void>>>

const beforeTheGreeting = {
  'exits-at-start': async ({ ended, received }) => {
    expect(await ended()).toBe(1)
    expect(received.errorBytes).toBe(0)
  },
  'exits-loudly': async ({ ended, received }) => {
    expect(await ended()).toBe(3)
    await until('100 lines', () => received.errorText.split('\n').length === 101)
  },
  'leaks-and-exits': async ({ ended, received }) => {
    expect(await ended()).toBe(1)
    await until('the secret on stderr', () => received.errorText.includes('loose-lips-4711'))
  },
  'silent-at-start': async (server) => {
    server.send('initialize')
    endOfInput(server)
    expect(await server.ended()).toBe(0)
    expect(server.received.bytes).toBe(0)
  },
  'refuses-at-start': async (server) => expect(await greet(server)).toHaveProperty('error'),
  'starts-late': async (server) => {
    const started = performance.now()
    await greet(server)
    expect(performance.now() - started).toBeGreaterThan(1000)
    await isOk(server)
  },
} satisfies Facts

const afterIt = {
  stubborn: async (server) => {
    endOfInput(server)
    await until('a refusal', () => server.received.errorText === 'The end? No.\n')
    server.child.kill('SIGTERM')
    await until('another one', () => server.received.errorText === 'The end? No.\nSIGTERM? No.\n')
    expect(isAlive(server.child.pid ?? 0)).toBe(true)
  },
  'grandchildren-in-group': async (server) => {
    const [own = 0, ...children] = server.pids()
    expect(children.map(groupOf)).toEqual([own, own])
    await leavesThemBehind(server, children)
  },
  'grandchild-in-session': async (server) => {
    const [, ...children] = server.pids()
    expect(children.map(groupOf)).toEqual(children)
    await leavesThemBehind(server, children)
  },
  'exits-in-call': async (server) => {
    await isOk(server)
    startFault(server)
    expect(await server.ended()).toBe(1)
  },
  'crashes-every-second-call': async (server) => {
    await isOk(server)
    server.send('tools/call', { name: 'ok' })
    expect(await server.ended()).toBe(1)
  },
  'hangs-in-call': async (server) => getsNoAnswer(server, startFault(server)),
  'slow-answer': async (server) => {
    startFault(server)
    await until('a part of the answer', () => server.half().length > 1)
    expect(server.half().length).toBeLessThan(4)
  },
  garbage: async (server) => {
    await isOk(server)
    expect(server.rubbish.length).toBeGreaterThan(5)
  },
  'invalid-utf8': async (server) => {
    expect(text(await call(server, 'fault'))).toContain('\ufffd')
  },
  'no-json-rpc': async (server) => {
    await getsNoAnswer(server, startFault(server))
    expect(server.rubbish).toHaveLength(7)
  },
  'wrong-id': async (server) => {
    const id = startFault(server)
    await getsNoAnswer(server, id)
    expect(server.heard(id + 1_000_000)).toHaveLength(1)
  },
  'same-id-twice': async (server) => {
    const id = startFault(server)
    await isOk(server)
    expect(server.heard(id).map(text)).toEqual(['first', 'second'])
  },
  'answers-after-cancel': async (server) => {
    const id = startFault(server)
    await getsNoAnswer(server, id)
    server.tell('notifications/cancelled', { requestId: id })
    await isOk(server)
    expect(server.heard(id).map(text)).toEqual(['too late'])
  },
  'large-answer': async (server) => {
    expect(text(await call(server, 'fault'))).toHaveLength(9_900_000)
    expect(server.received.bytes).toBeLessThan(MOST_LINE)
    await isOk(server)
  },
  'too-large-answer': async (server) => {
    expect(text(await call(server, 'fault')).length).toBeGreaterThan(MOST_LINE)
    await isOk(server)
  },
  'endless-output': async (server) => {
    startFault(server)
    await until('more than any limit', () => server.received.bytes > 80_000_000)
    expect(server.messages).toHaveLength(1)
  },
  'stderr-flood': async (server) => {
    await call(server, 'fault')
    // What is in the pipe arrives a moment later.
    expect(server.received.errorBytes).toBeGreaterThan(90_000_000)
    await until('all of it', () => server.received.errorBytes === 100_000_000)
    await isOk(server)
  },
  'closes-stdin': async (server) => {
    startFault(server)
    await until('a pipe that is broken', () => {
      server.tell('notifications/anything')
      return server.child.stdin?.destroyed
    })
    expect(isAlive(server.child.pid ?? 0)).toBe(true)
  },
  deaf: async (server) => {
    startFault(server)
    const large = 'x'.repeat(1_000_000)
    await until('a pipe that is full', () => {
      server.tell('notifications/anything', { large })
      return (server.child.stdin?.writableLength ?? 0) > 10_000_000
    })
    expect(isAlive(server.child.pid ?? 0)).toBe(true)
  },
  'error-result': async (server) => expect((await call(server, 'fault')).result.isError).toBe(true),
  'result-no-object': async (server) => expect((await call(server, 'fault')).result).toBeTypeOf('string'),
  'huge-error': async (server) => {
    const { error } = await call(server, 'fault')
    expect((error as Error).message).toHaveLength(1_000_000)
  },
  'asks-the-client': async (server) => {
    const id = startFault(server)
    const asked = () => server.messages.filter(({ method }) => method !== undefined)
    await until('three questions', () => asked().length === 3)
    for (const question of asked()) server.reply(question.id, { error: { code: -32601, message: 'no' } })
    const answer = await until('an answer', () => server.heard(id)[0])
    expect(JSON.parse(text(answer))).toHaveLength(3)
  },
  'log-flood': async (server) => {
    await call(server, 'fault')
    expect(server.messages.filter(({ method }) => method === 'notifications/message')).toHaveLength(10_000)
  },
  'leaks-secrets': async (server) => {
    const secret = expect.stringContaining('loose-lips-4711')
    expect(await tools(server)).toMatchObject([{ description: secret }, { description: secret }])
    expect(text(await call(server, 'fault'))).toEqual(secret)
    expect(text(await call(server, 'fault', { where: 'error' }))).toEqual(secret)
    expect((await call(server, 'fault', { where: 'protocol-error' })).error).toMatchObject({ message: secret })
    server.send('tools/call', { name: 'fault', arguments: { where: 'stderr' } })
    expect(await server.ended()).toBe(1)
    await until('the secret on stderr', () => server.received.errorText.includes('loose-lips-4711'))
  },
  'hangs-in-list': async (server) => getsNoAnswer(server, server.send('tools/list')),
  'many-tools': async (server) => expect(new Set(await names(server)).size).toBe(10_000),
  'huge-schema': async (server) => {
    expect(await names(server)).toEqual(['ok', 'fault', 'huge', 'small'])
    expect(server.received.bytes).toBeGreaterThan(5_000_000)
  },
  'schema-bombs': async (server) => {
    expect(await names(server)).toEqual(['ok', 'fault', 'cycle', 'deep', 'pattern'])
    expect((await call(server, 'pattern')).result).toHaveProperty('structuredContent.text')
  },
  'no-input-schema': async (server) => {
    expect((await tools(server)).filter(({ inputSchema }) => inputSchema === undefined)).toMatchObject([
      { name: 'bare' },
    ])
  },
  'bad-names': async (server) => {
    expect((await names(server)).map((name) => name.length)).toEqual(expect.arrayContaining([0, 300]))
  },
  'malformed-tools': async (server) => {
    expect(await tools(server)).toEqual(expect.arrayContaining([null, 'text', expect.objectContaining({ name: 'ok' })]))
  },
  'same-tool-twice': async (server) => expect(await names(server)).toEqual(['ok', 'fault', 'twice', 'twice']),
  'changing-list': async (server) => {
    await isOk(server)
    expect(await names(server)).toEqual(['ok', 'fault', 'extra-1'])
    await isOk(server)
    expect(await names(server)).toHaveLength(4)
    expect(changes(server)).toBe(2)
  },
  'changing-list-silently': async (server) => {
    await isOk(server)
    expect(await names(server)).toEqual(['ok', 'fault', 'extra-1'])
    expect(changes(server)).toBe(0)
  },
  'list-changed-flood': async (server) => {
    const started = performance.now()
    await until('a thousand changes', () => changes(server) >= 1000)
    expect(performance.now() - started).toBeLessThan(10_000)
    await isOk(server)
  },
  'endless-pages': async (server) => {
    for (let page = 0; page < 100; page++) {
      const { result } = await server.ask('tools/list', page === 0 ? {} : { cursor: String(page) })
      expect(result).toMatchObject({ nextCursor: String(page + 1) })
    }
  },
} satisfies Facts

const FACTS: Required<Facts> = { ...beforeTheGreeting, ...afterIt }

const changes = ({ messages }: Talk) =>
  messages.filter(({ method }) => method === 'notifications/tools/list_changed').length

async function leavesThemBehind(server: Talk, children: number[]): Promise<void> {
  expect(children.length).toBeGreaterThan(0)
  await isOk(server)
  for (const pid of children) process.kill(pid, 'SIGTERM')
  endOfInput(server)
  expect(await server.ended()).toBe(0)
  expect(children.map(isAlive)).toEqual(children.map(() => true))
  expect(server.child.stdout?.readableEnded).toBe(false)
}

describe('a misbehaving server', () => {
  test.each(Object.entries(FAULTS) as [Fault, string][])('%s: %s', async (fault) => {
    await using server = await talkTo(fault, fault === 'starts-late' ? { seconds: 1 } : {})
    if (!(fault in beforeTheGreeting)) expect(await greet(server)).toHaveProperty('result.serverInfo')
    await FACTS[fault](server)
  })

  test('knows no other faults', async () => {
    await using server = await talkTo('nonsense' as Fault)
    expect(await server.ended()).toBe(1)
  })
})
