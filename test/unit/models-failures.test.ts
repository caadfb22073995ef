// Everything that a provider can do wrong: what is repeated, what is not, in which words, and that nothing is left open.
import { setImmediate as breathe, setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createModels, type ModelsParts } from '../../src/models/create.ts'
import type { Models, ToolDescription } from '../../src/models/models.ts'
import {
  after,
  answers,
  calls,
  cuts,
  fails,
  floods,
  hangs,
  hangsMidway,
  type Reply,
  resets,
  says,
  startModelServer,
  streams,
} from '../support/model-server.ts'

const TOOLS: ToolDescription[] = [
  { name: 'add', description: 'Adds', input_schema: { type: 'object', properties: { a: { type: 'number' } } } },
]
const IMPATIENT = { patience: { first_ms: 500, idle_ms: 400 } }
const SOON = { base_ms: 1, cap_ms: 5 }

const modelsAt = (base_url: string, parts: Partial<ModelsParts> = {}): Models =>
  createModels({ ai: { base_url, keys: { openai: 'sk-secret' } }, backoff: SOON, ...parts })

const ask = (models: Models, signal = new AbortController().signal) =>
  models.turn({ model: models.nameFor(null), messages: [{ role: 'user', content: 'Add' }], tools: TOOLS, signal })

const error = (message: string, more = {}) => ({ body: { error: { message, ...more } } })

// The SDK would print errors and warnings on its own.
const printed: unknown[] = []
beforeEach(() => {
  for (const name of ['error', 'warn', 'log', 'info', 'debug'] as const) {
    vi.spyOn(console, name).mockImplementation((...all) => void printed.push(all))
  }
  vi.spyOn(process, 'emitWarning').mockImplementation((...all) => void printed.push(all))
})
afterEach(() => {
  vi.restoreAllMocks()
  expect(printed.splice(0)).toEqual([])
})

const WRONG: Record<string, [reply: Reply, words: string, parts?: Partial<ModelsParts>]> = {
  'a status 408': [fails(408), 'refused the request (408)'],
  'a status 429': [fails(429), 'had no room for us (429)'],
  'a status 502 with a page': [fails(502, { body: '<h1>Bad gateway</h1>' }), 'failed (502)'],
  'a status 529': [fails(529), 'failed (529)'],
  'silence before the headers': [hangs(), 'did not answer within 0.5 s', IMPATIENT],
  'silence in the middle': [hangsMidway(), 'fell silent for 0.4 s in the middle of its answer', IMPATIENT],
  'a connection slammed shut': [resets(), 'could not be reached'],
  'a connection slammed shut in the middle': [resets({ midway: true }), 'broke off before the end of its answer'],
  'a stream cut inside a character': [cuts('in-character'), 'broke off before the end of its answer'],
  'a stream cut inside an event': [cuts('in-event'), 'broke off before the end of its answer'],
  'a stream without its final event': [cuts('before-the-end'), 'broke off before the end of its answer'],
  'a success with an error for a body': [answers(error('no').body), 'answered with JSON instead of a stream'],
  'rubbish instead of a stream': [answers('<html>Welcome</html>'), 'broke off before the end of its answer'],
  'an empty body': [answers(''), 'broke off before the end of its answer'],
  'events that are not JSON': [streams(['{"choices": [']), 'gave an answer that cannot be read'],
  'events of another protocol': [streams([{ hello: 1 }]), 'gave an answer that cannot be read'],
  'an error among the events': [streams([error('sorry').body]), 'reported an error instead of an answer'],
  'an answer without text and calls': [says(''), 'gave an empty answer'],
  'an answer of blanks': [says(' \n'), 'gave an empty answer'],
  'arguments that are not JSON': [calls(['add', '{"a":']), 'called add with arguments that are not a JSON object'],
  'arguments that are a list': [calls(['add', '[1]']), 'called add with arguments that are not a JSON object'],
  'arguments that are a text': [calls(['zip', '"a"']), 'called zip with arguments that are not a JSON object'],
}

describe('what may pass is repeated', () => {
  test.each(Object.entries(WRONG))('%s', async (_title, [reply, words, parts]) => {
    await using server = await startModelServer([reply, says('At last')])
    expect(await ask(modelsAt(server.url, parts))).toMatchObject({ text: 'At last', attempts: 2 })
    await using never = await startModelServer(() => reply)
    const failure = await ask(modelsAt(never.url, parts)).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ name: 'ModelFailure', attempts: 5 })
    expect(String(failure)).toContain(`openai-compatible at ${never.url} ${words}, tried 5 times`)
    expect(never.requests).toHaveLength(5)
  })

  test('nobody listens at the address', async () => {
    const { url } = await startModelServer().then(async (server) => {
      await server[Symbol.asyncDispose]()
      return server
    })
    await expect(ask(modelsAt(url))).rejects.toMatchObject({
      attempts: 5,
      message: expect.stringMatching(
        /could not be reached, tried 5 times: check the network and the address\. .*ECONNREFUSED/,
      ),
    })
  })

  test('each repetition is told to the log, with the reason and without the key', async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
    await using server = await startModelServer([fails(500, error('not with sk-secret')), says('At last')])
    await ask(modelsAt(server.url, { log }))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { model: 'openai-compatible/default', attempts: 1, reason: expect.stringContaining('failed (500)') },
    ])
    expect(lines.join()).not.toContain('sk-secret')
  })
})

describe('what will not pass is said at once', () => {
  test.each<[title: string, reply: Reply, words: string]>([
    [
      'a wrong key',
      fails(401, error('who is sk-secret?')),
      'refused the key (401): check OPENAI_API_KEY. Details: who is ••••?',
    ],
    [
      'no right',
      fails(403, error('no')),
      'denied access (403): check what the key in OPENAI_API_KEY may do. Details: no',
    ],
    [
      'an unknown model',
      fails(404, error('no')),
      'does not know default (404): check the name of the model. Details: no',
    ],
    ['a wrong request', fails(400, error('too long')), 'refused the request (400). Details: too long'],
    ['a request that does not fit', fails(422, error('hm')), 'refused the request (422). Details: hm'],
    [
      'no quota',
      fails(429, error('pay', { code: 'insufficient_quota' })),
      'has no quota left for us (429): check the plan',
    ],
    [
      'a redirect',
      fails(307, { headers: { location: 'http://127.0.0.1:1/' } }),
      'redirects to another address (307): set',
    ],
    ['a content filter', says('I', { finish: 'content_filter' }), 'refused to answer: its content filter stopped it'],
    ['an error event that names its status', streams([error('no', { code: 400 }).body]), 'refused the request (400)'],
  ])('%s', async (_title, reply, words) => {
    await using server = await startModelServer([reply, says('never asked for')])
    const failure = await ask(modelsAt(server.url)).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ name: 'ModelFailure', attempts: 1 })
    expect(String(failure)).toContain(`openai-compatible at ${server.url} ${words}`)
    expect(server.requests).toHaveLength(1)
  })

  test('more than 4 MiB of output, and the provider is hung up on', async () => {
    await using server = await startModelServer([floods()])
    await expect(ask(modelsAt(server.url))).rejects.toMatchObject({
      attempts: 1,
      message: expect.stringContaining('answered with more than 4 MiB of text'),
    })
    await server.requests[0]?.gone
  })

  test('the words of a provider are cut, on one line, and never quote a key', async () => {
    const long = `${'x'.repeat(490)}\n\u001b[31m sk-secret ${'y'.repeat(1000)}`
    await using server = await startModelServer([fails(400, error(long))])
    const failure = await ask(modelsAt(server.url)).catch((reason: unknown) => reason)
    const details = String(failure).split('Details: ')[1]
    expect(details).toHaveLength(500)
    expect(details).toMatch(/^x{490} \[31m/)
    expect(details).not.toMatch(/sk-s/)
  })
})

describe('what the engine tells the model is no failure', () => {
  test('a tool that does not exist and arguments that do not fit come back as the model made them', async () => {
    await using server = await startModelServer([calls(['zip', { file: 'a' }], ['add', { a: 'one', b: [2] }])])
    const turn = await ask(modelsAt(server.url))
    expect(turn.calls).toEqual([
      { id: 'call_zip', name: 'zip', input: { file: 'a' } },
      { id: 'call_add', name: 'add', input: { a: 'one', b: [2] } },
    ])
    expect(turn.content).toMatchObject([{ input: { file: 'a' } }, { input: { a: 'one', b: [2] } }])
  })

  test('a call comes back even when there was no tool to call', async () => {
    await using server = await startModelServer([calls(['add', { a: 1 }])])
    const models = modelsAt(server.url)
    const { signal } = new AbortController()
    const messages = [{ role: 'user' as const, content: 'Add' }]
    const turn = await models.turn({ model: models.nameFor(null), messages, tools: [], signal })
    expect(turn.calls).toEqual([{ id: 'call_add', name: 'add', input: { a: 1 } }])
    expect(server.requests[0]?.body).not.toHaveProperty('tools')
  })

  test('no arguments at all are none', async () => {
    await using server = await startModelServer([calls(['add', ''], ['zip', ' '])])
    expect((await ask(modelsAt(server.url))).calls.map(({ input }) => input)).toEqual([{}, {}])
  })

  test('an answer that was cut for its length comes back as far as it goes', async () => {
    await using server = await startModelServer([says('Once upon', { finish: 'length' })])
    expect(await ask(modelsAt(server.url))).toMatchObject({ text: 'Once upon', finish: 'length' })
  })

  test('calls with the same id, or none, get ids of their own, also in the conversation', async () => {
    const same = calls(['add', { a: 1 }, 'x'], ['add', { a: 2 }, 'x'], ['add', { a: 3 }, ''])
    await using server = await startModelServer([same])
    const turn = await ask(modelsAt(server.url))
    const ids = turn.calls.map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    expect(ids.every((id) => id !== '')).toBe(true)
    expect(turn.content).toMatchObject(turn.calls.map(({ id, input }) => ({ toolCallId: id, input })))
  })

  test('a provider may take its time, as long as bytes of whatever meaning come', async () => {
    const thinks: Reply = async (response) => {
      const started = performance.now()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // Longer than either patience, but never silent for so long.
      while (performance.now() - started < 1000) {
        response.write(': thinking\n\n')
        await delay(20)
      }
      response.end('data: {"choices":[{"delta":{"content":"Hm."},"finish_reason":"stop"}]}\n\n')
    }
    await using server = await startModelServer([after(20, thinks)])
    expect(await ask(modelsAt(server.url, IMPATIENT))).toMatchObject({ text: 'Hm.', attempts: 1 })
  })
})

describe('an abort', () => {
  const reason = new Error('the run was cancelled')

  test.each<[where: string, reply: Reply]>([
    ['before the headers', hangs()],
    ['in the middle of the answer', hangsMidway()],
  ])('%s ends the turn with its reason and the request for real', async (_where, reply) => {
    await using server = await startModelServer([reply])
    const abort = new AbortController()
    const turn = ask(modelsAt(server.url), abort.signal)
    turn.catch(() => {})
    const request = await server.received(1)
    abort.abort(reason)
    await expect(turn).rejects.toBe(reason)
    await request.gone
    expect(server.requests).toHaveLength(1)
  })

  test('while it waits for the next attempt ends the wait', async () => {
    const waits = Promise.withResolvers<void>()
    const log = pino({ level: 'warn' }, { write: () => waits.resolve() })
    await using server = await startModelServer(() => fails(429, { headers: { 'retry-after': '3600' } }))
    const abort = new AbortController()
    const turn = ask(modelsAt(server.url, { log, backoff: { base_ms: 0, cap_ms: 3_600_000 } }), abort.signal)
    turn.catch(() => {})
    await waits.promise
    abort.abort(reason)
    await expect(turn).rejects.toBe(reason)
    expect(server.requests).toHaveLength(1)
  })

  test('that came first lets nothing out', async () => {
    await using server = await startModelServer()
    await expect(ask(modelsAt(server.url), AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(server.requests).toHaveLength(0)
  })

  test('that comes after the answer changes nothing', async () => {
    await using server = await startModelServer([says('Done')])
    const abort = new AbortController()
    const turn = await ask(modelsAt(server.url), abort.signal)
    abort.abort(reason)
    await breathe()
    expect(turn.text).toBe('Done')
  })
})
