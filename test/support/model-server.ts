// A model provider outside our walls: a real HTTP server on loopback that speaks streamed chat-completions by script.
//
//   await using server = await startModelServer([fails(503), calls(['add', { a: 1 }]), says('Done.')])
//   createModels({ ai: { base_url: server.url, keys: {} } })        // or SVC_AI_BASE_URL=server.url
//   expect(server.requests[1]?.body.messages).toEqual(…)
//
// The script is a list, one reply for each request (a request too many gets a 400 that says so), or a function of the
// request. Replies: says, calls, callsWith, fails, answers, streams, hangs, hangsMidway, resets, cuts, floods; `after`
// holds one back. Tests wait for facts: `received(n)` for the n-th request, `request.gone` for the client hanging up.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

export interface ModelServer extends AsyncDisposable {
  /** What SVC_AI_BASE_URL wants. */
  readonly url: string
  readonly requests: readonly ModelServerRequest[]
  /** Resolves with the n-th request, counted from 1, once it is there. */
  received(count: number): Promise<ModelServerRequest>
}

export interface ModelServerRequest {
  /** Counted from 0. */
  readonly index: number
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Typed as chat-completions; other protocols bring other fields. */
  readonly body: ChatRequest
  /** When it arrived, on the monotonic clock. */
  readonly at: number
  /** The connection ended before the reply did. */
  readonly aborted: boolean
  /** Resolves when that happens. */
  readonly gone: Promise<void>
}

interface ChatRequest {
  readonly model?: string
  readonly messages?: readonly { readonly role: string; readonly [field: string]: unknown }[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[]
  readonly [field: string]: unknown
}

export type Reply = (response: ServerResponse, request: ModelServerRequest) => void | Promise<void>
export type Script = readonly Reply[] | ((request: ModelServerRequest) => Reply)

export async function startModelServer(script: Script = []): Promise<ModelServer> {
  const requests: ModelServerRequest[] = []
  const arrivals = new EventTarget()
  const server = createServer(async (incoming, response) => {
    const request = await record(incoming, response, requests.length)
    requests.push(request)
    arrivals.dispatchEvent(new Event('request'))
    await replyTo(request, script)(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async received(count) {
      while (requests.length < count) await once(arrivals, 'request')
      return requests[count - 1] as ModelServerRequest
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function record(incoming: IncomingMessage, response: ServerResponse, index: number): Promise<ModelServerRequest> {
  const at = performance.now()
  const gone = Promise.withResolvers<void>()
  let aborted = false
  response.on('close', () => {
    if (response.writableFinished) return
    aborted = true
    gone.resolve()
  })
  return {
    ...{ index, at, path: incoming.url ?? '', headers: incoming.headers, gone: gone.promise },
    body: (await json(incoming)) as ChatRequest,
    get aborted() {
      return aborted
    },
  }
}

function replyTo(request: ModelServerRequest, script: Script): Reply {
  if (typeof script === 'function') return script(request)
  return script[request.index] ?? fails(400, { body: { error: { message: 'the script has no reply for this one' } } })
}

export interface ReplyOptions {
  usage?: { input: number; output: number }
  finish?: string
}

/** A text, in a few pieces. */
export const says = (text: string, options: ReplyOptions = {}): Reply =>
  streams([...pieces(text).map((content) => chunk({ content })), ...ending('stop', options)])

/** `[name, arguments]`, the arguments as an object or as the very text that the model sends; and an id of choice. */
export type ScriptedCall = readonly [name: string, input?: object | string, id?: string]

/** Tool calls, all in one turn. */
export const calls = (...scripted: ScriptedCall[]): Reply => callsWith({}, ...scripted)

export const callsWith = (options: ReplyOptions, ...scripted: ScriptedCall[]): Reply =>
  streams([...scripted.map(callChunk), ...ending('tool_calls', options)])

type Headers = Readonly<Record<string, string>>

/** A status with a body. */
export const fails = (status: number, { headers = {}, body = {} }: { headers?: Headers; body?: unknown } = {}): Reply =>
  answers(body, { status, headers })

/** Any body instead of a stream: text as it is, everything else as JSON. */
export function answers(body: unknown, { status = 200, headers = {} as Headers } = {}): Reply {
  const [type, text] = typeof body === 'string' ? ['text/plain', body] : ['application/json', JSON.stringify(body)]
  return (response) => void response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}

/** Any server-sent events: objects as JSON, texts as they are; `named` puts their type in front as Anthropic does. */
export const streams =
  (events: readonly (object | string)[], { named = false } = {}): Reply =>
  (response) =>
    void begin(response).end(events.map((event) => frame(event, named)).join(''))

/** Takes the request and never answers. */
export const hangs = (): Reply => () => {}

/** Begins to answer and never goes on. */
export const hangsMidway = (): Reply => (response) => void begin(response).write(frame(chunk({ content: 'I begin' })))

/** Slams the connection shut: at once, or in the middle of the answer. */
export const resets =
  ({ midway = false } = {}): Reply =>
  async (response) => {
    if (midway) await new Promise((sent) => begin(response).write(frame(chunk({ content: 'I begin' })), sent))
    response.socket?.resetAndDestroy()
  }

/** Ends the stream in good order but too early: inside a character, inside an event, or before the final event. */
export const cuts =
  (where: 'in-character' | 'in-event' | 'before-the-end'): Reply =>
  (response) => {
    const bytes = Buffer.from(frame(chunk({ content: 'Grüße' })))
    const ends = { 'in-character': bytes.indexOf('ü') + 1, 'in-event': bytes.indexOf('content') }
    begin(response).end(where === 'before-the-end' ? bytes : bytes.subarray(0, ends[where]))
  }

/** Talks until the client hangs up. */
export const floods = (): Reply => async (response, request) => {
  const piece = frame(chunk({ content: 'again and again '.repeat(4096) }))
  begin(response)
  while (!request.aborted) if (!response.write(piece)) await Promise.race([once(response, 'drain'), request.gone])
}

/** The reply, once something has happened, or after milliseconds. */
export const after =
  (gate: Promise<unknown> | number, reply: Reply): Reply =>
  async (response, request) => {
    await (typeof gate === 'number' ? delay(gate) : gate)
    await reply(response, request)
  }

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

function chunk(delta: object, finish_reason: string | null = null): object {
  return { id: 'chat-1', created: 1, model: 'scripted', choices: [{ index: 0, delta, finish_reason }] }
}

function callChunk([name, input = {}, id = `call_${name}`]: ScriptedCall, index: number): object {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] })
}

function ending(usual: string, { usage = { input: 10, output: 5 }, finish = usual }: ReplyOptions) {
  return [{ ...chunk({}, finish), usage: { prompt_tokens: usage.input, completion_tokens: usage.output } }, '[DONE]']
}

const pieces = (text: string): string[] =>
  text.match(new RegExp(`.{1,${Math.ceil(text.length / 3) || 1}}`, 'gsu')) ?? []

function frame(event: object | string, named = false): string {
  if (typeof event === 'string') return `data: ${event}\n\n`
  return `${named && 'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
}
