// Every way in which a tool server over HTTP can go wrong that we have thought of.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { discovery, isCallOf, type Message, normalAnswer, tool } from './protocol.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** What was posted; empty for other methods. */
  message: Message
  /** Another origin, where everything is well. */
  elsewhere: string
  /** What one server remembers from request to request. */
  sessions: Map<string, { calls: number }>
  /** After how many calls a session is forgotten. */
  callsPerSession: number
}

type Act = (exchange: Exchange) => void | Promise<void>

function answerJson({ response }: Exchange, body: object, status = 200, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function answerNormally(exchange: Exchange): void {
  const { message, request, response } = exchange
  if (request.method !== 'POST') response.writeHead(405).end()
  else if (message.id === undefined) response.writeHead(202).end()
  else answerJson(exchange, { jsonrpc: '2.0', id: message.id, ...normalAnswer(message) })
}

const status =
  (code: number): Act =>
  ({ response }) =>
    void response.writeHead(code, { 'content-type': 'text/plain' }).end(`no: ${code}`)

const rejection = ({ id }: Message, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })

/** In every request, or only in calls of the tool `fault`. */
const always = (act: Act) => ({ when: 'always' as const, act })
const inCalls = (act: Act) => ({ when: 'call' as const, act })

function drip({ response }: Exchange): void {
  const { socket } = response
  socket?.write('HTTP/1.1 200 OK\r\ncontent-type: ')
  const drops = setInterval(() => socket?.write('x'), 1000)
  socket?.once('close', () => clearInterval(drops))
}

function cut({ response, message: { id } }: Exchange): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: `soon: ${id}` } }
  response.write(`event: message\ndata: ${JSON.stringify(notice)}\n\n`, () => response.destroy())
}

function* hugeAnswer({ id }: Message) {
  yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`
  for (let megabyte = 0; megabyte < 100; megabyte++) yield 'x'.repeat(1_000_000)
  yield '"}]}}'
}

/** A reader that hangs up is what everybody hopes for. */
async function flood({ response, message }: Exchange, type: string, before: string, after: string): Promise<void> {
  response.writeHead(200, { 'content-type': type })
  const text = function* () {
    yield before
    yield* hugeAnswer(message)
    yield after
  }
  await pipeline(Readable.from(text()), response).catch(() => {})
}

function openSession(exchange: Exchange): void {
  const { message, sessions } = exchange
  const session = randomUUID()
  sessions.set(session, { calls: 0 })
  const body = { jsonrpc: '2.0', id: message.id, ...normalAnswer(message) }
  answerJson(exchange, body, 200, { 'mcp-session-id': session })
}

function useSession(exchange: Exchange): void {
  const { message, request, sessions, callsPerSession } = exchange
  const id = String(request.headers['mcp-session-id'])
  const session = sessions.get(id)
  if (session && message.method === 'tools/call' && ++session.calls >= callsPerSession) sessions.delete(id)
  if (session) answerNormally(exchange)
  else answerJson(exchange, rejection(message, -32001, 'Session not found'), 404)
}

const forgetful: Act = (exchange) => (exchange.message.method === 'initialize' ? openSession : useSession)(exchange)

/** Of the newer era, with a parameter that wants to be in a header too, and never is as it should be. */
function mismatched(exchange: Exchange): void {
  const { message } = exchange
  const result = modernResult(message)
  if (result) answerJson(exchange, { jsonrpc: '2.0', id: message.id, result })
  else if (!isCallOf('fault', message)) answerNormally(exchange)
  else answerJson(exchange, rejection(message, -32020, 'Bad Request: the request headers and body disagree'), 400)
}

function modernResult({ method }: Message): object | undefined {
  if (method === 'server/discover') return discovery()
  if (method !== 'tools/list') return undefined
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
  return { ...discovery(), tools: [tool('ok'), { ...tool('fault'), inputSchema }] }
}

export const HTTP_FAULTS = {
  unauthorized: always(status(401)),
  forbidden: always(status(403)),
  'not-found': always(status(404)),
  broken: always(status(500)),
  unavailable: always(status(503)),
  'never-answers': always(() => {}),
  'slow-headers': always(drip),
  /** The server of 2024: events by GET, nothing by POST. */
  'sse-only': always(({ request, response }) => {
    if (request.method !== 'GET') return void response.writeHead(405).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: endpoint\ndata: /messages\n\n')
  }),
  redirects: always(({ response, elsewhere }) => void response.writeHead(307, { location: elsewhere }).end()),
  html: always(({ response }) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')),
  'wrong-type': always(({ response, message }) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...normalAnswer(message) })
    response.writeHead(200, { 'content-type': 'application/x-unheard-of' }).end(body)
  }),
  'loses-sessions': always(forgetful),
  'header-mismatch': always(mismatched),
  'cut-stream': inCalls(cut),
  'huge-body': inCalls((exchange) => flood(exchange, 'application/json', '', '')),
  'huge-event': inCalls((exchange) => flood(exchange, 'text/event-stream', 'event: message\ndata: ', '\n\n')),
}

export type HttpFault = keyof typeof HTTP_FAULTS
