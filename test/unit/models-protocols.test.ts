// The providers' own protocols, spoken to a real server: who carries the key where, and what comes back in the next turn.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { createModels } from '../../src/models/create.ts'
import type { ChatMessage, Models, Turn } from '../../src/models/models.ts'
import { proves } from '../spec/proves.ts'
import { fails, type ModelServer, type Reply, startModelServer, streams } from '../support/model-server.ts'

const HOST = 'x-asked-host'
const ADD = {
  name: 'add',
  description: 'Adds',
  input_schema: { type: 'object', properties: { a: { type: 'number' } } },
}
const TASK: ChatMessage[] = [
  { role: 'system', content: 'You add.' },
  { role: 'user', content: 'Add 1' },
]

/** What is meant for the provider goes to the server, which reads in a header who was meant. */
function modelsAt(server: ModelServer, env: Record<string, string>): Models {
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { host, pathname, search } = new URL(String(input))
    const headers = new Headers(init?.headers)
    headers.set(HOST, host)
    return globalThis.fetch(`${new URL(server.url).origin}${pathname}${search}`, { ...init, headers })
  }
  const { ai } = loadConfig({ flags: { home: '/nowhere' }, env, cwd: '/' }).config
  return createModels({ ai, fetch, backoff: { base_ms: 1, cap_ms: 5 } })
}

const ask = (models: Models, messages: ChatMessage[] = TASK) =>
  models.turn({ model: models.nameFor(null), messages, tools: [ADD], signal: new AbortController().signal })

const afterCall = (turn: Turn, text: string): ChatMessage[] => [
  ...TASK,
  { role: 'assistant', content: turn.content },
  { role: 'tool', results: turn.calls.map(({ id, name }) => ({ call_id: id, name, text, is_error: false })) },
]

const openaiEvents = (item: object, ...deltas: object[]): Reply =>
  streams([
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
    ...deltas,
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: { incomplete_details: null, usage: { input_tokens: 11, output_tokens: 3 } },
    },
  ])

const openaiCall = openaiEvents(
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '{"a":1}', status: 'completed' },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: '{"a":1}' },
)
const openaiText = openaiEvents(
  { type: 'message', id: 'msg_1' },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'It is 1.' },
)

const anthropicEvents = (stop_reason: string, ...blocks: [start: object, ...deltas: object[]][]): Reply =>
  streams(
    [
      {
        type: 'message_start',
        message: { id: 'msg_1', model: 'claude', role: 'assistant', usage: { input_tokens: 11 } },
      },
      ...blocks.flatMap(([content_block, ...deltas], index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'ping' },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ],
    { named: true },
  )

const anthropicCall = anthropicEvents(
  'tool_use',
  [
    { type: 'thinking', thinking: '' },
    { type: 'thinking_delta', thinking: 'Hm.' },
    { type: 'signature_delta', signature: 'c2lnbmVk' },
  ],
  [
    { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
    { type: 'input_json_delta', partial_json: '{"a":1}' },
  ],
)
const anthropicText = anthropicEvents('end_turn', [
  { type: 'text', text: '' },
  { type: 'text_delta', text: 'It is 1.' },
])

const googleEvents = (...parts: object[]): Reply =>
  streams([
    {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 3, totalTokenCount: 14 },
    },
  ])

const googleCall = googleEvents({ functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'c2lnbmVk' })
const googleText = googleEvents({ text: 'It is 1.' })

const PROTOCOLS = {
  openai: {
    ...{ variable: 'OPENAI_API_KEY', host: 'api.openai.com', path: '/v1/responses', header: 'authorization' },
    ...{ prefix: 'Bearer ', call: openaiCall, text: openaiText },
  },
  anthropic: {
    ...{ variable: 'ANTHROPIC_API_KEY', host: 'api.anthropic.com', path: '/v1/messages', header: 'x-api-key' },
    ...{ prefix: '', call: anthropicCall, text: anthropicText },
  },
  google: {
    ...{ variable: 'GOOGLE_API_KEY', host: 'generativelanguage.googleapis.com', header: 'x-goog-api-key' },
    ...{ path: '/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse', prefix: '' },
    ...{ call: googleCall, text: googleText },
  },
}

afterEach(() => void vi.unstubAllEnvs())

describe.each(Object.entries(PROTOCOLS))('%s', (_provider, { variable, host, path, header, prefix, call, text }) => {
  proves(
    'models.provider-key',
    'a call and then a text come through, with the key that the configuration brought',
    async () => {
      for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'])
        vi.stubEnv(name, 'decoy')
      for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL']) vi.stubEnv(name, 'http://decoy.invalid')
      await using server = await startModelServer([call, text])
      const models = modelsAt(server, { [variable]: 'sk-mine' })

      const first = await ask(models)
      expect(first.calls).toEqual([{ id: expect.stringMatching(/./), name: 'add', input: { a: 1 } }])
      expect(first).toMatchObject({ finish: 'tool-calls', usage: { input_tokens: 11, output_tokens: 3 }, attempts: 1 })
      expect(JSON.parse(JSON.stringify(first))).toStrictEqual(first)

      const second = await ask(models, afterCall(first, 'one'))
      expect(second).toMatchObject({ text: 'It is 1.', calls: [], finish: 'stop' })
      expect(second.content).toContainEqual(expect.objectContaining({ type: 'text', text: 'It is 1.' }))

      expect(server.requests).toHaveLength(2)
      for (const request of server.requests) {
        expect(request.headers).toMatchObject({ [HOST]: host, [header]: `${prefix}sk-mine` })
        expect(request.path).toBe(path)
        expect(JSON.stringify(request)).not.toContain('decoy')
      }
    },
  )

  test('a refused key is not tried again, and its variable is named', async () => {
    const body = {
      type: 'error',
      error: { type: 'authentication_error', message: 'not sk-mine', code: 401, status: 'X' },
    }
    await using server = await startModelServer([fails(401, { body })])
    await expect(ask(modelsAt(server, { [variable]: 'sk-mine' }))).rejects.toMatchObject({
      name: 'ModelFailure',
      message: expect.stringMatching(
        new RegExp(`^\\w+ refused the key \\(401\\): check ${variable}. Details: not ••••$`),
      ),
    })
  })

  test('a stream that ends early is tried again', async () => {
    const early: Reply = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
    await using server = await startModelServer([early, early, text])
    expect(await ask(modelsAt(server, { [variable]: 'sk-mine' }))).toMatchObject({ text: 'It is 1.', attempts: 3 })
  })
})

proves('models.provider-key', 'GEMINI_API_KEY is another name of GOOGLE_API_KEY', async () => {
  await using server = await startModelServer([googleText])
  await ask(modelsAt(server, { GEMINI_API_KEY: 'sk-gemini' }))
  expect(server.requests[0]?.headers['x-goog-api-key']).toBe('sk-gemini')
})

test('openai is asked to keep nothing, and a replayed conversation refers to nothing that it kept', async () => {
  await using server = await startModelServer([openaiCall, openaiText])
  const models = modelsAt(server, { OPENAI_API_KEY: 'k' })
  await ask(models, afterCall(await ask(models), 'one'))
  expect(server.requests.map(({ body }) => body.store)).toEqual([false, false])
  expect(server.requests[1]?.body.input).toMatchObject([
    { role: expect.stringMatching(/system|developer/), content: 'You add.' },
    { role: 'user' },
    { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'one' },
  ])
})

test('anthropic gets the signature of its thoughts back', async () => {
  await using server = await startModelServer([anthropicCall, anthropicText])
  const models = modelsAt(server, { ANTHROPIC_API_KEY: 'k' })
  await ask(models, afterCall(await ask(models), 'one'))
  expect(server.requests[1]?.body.messages).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', signature: 'c2lnbmVk' },
        { type: 'tool_use', id: 'toolu_1' },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' }] },
  ])
})

test('google gets the signature of its thoughts back', async () => {
  await using server = await startModelServer([googleCall, googleText])
  const models = modelsAt(server, { GOOGLE_API_KEY: 'k' })
  await ask(models, afterCall(await ask(models), 'one'))
  expect(JSON.stringify(server.requests[1]?.body.contents)).toContain('"thoughtSignature":"c2lnbmVk"')
})

test('instructions in the middle of a prompt go to the front, where every provider takes them', async () => {
  await using server = await startModelServer([googleText])
  const models = modelsAt(server, { GOOGLE_API_KEY: 'k' })
  await ask(models, [{ role: 'user', content: 'Add 1' }, ...TASK])
  expect(server.requests[0]?.body).toMatchObject({
    systemInstruction: { parts: [{ text: 'You add.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Add 1' }] },
      { role: 'user', parts: [{ text: 'Add 1' }] },
    ],
  })
})
