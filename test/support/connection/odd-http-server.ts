// An MCP server over HTTP, in the older era with sessions, that does what no server should: one oddity for each tool.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Json = Record<string, unknown>
type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

export interface HttpServer extends AsyncDisposable {
  url: string
  /** What was asked for, as `POST tools/call`. */
  readonly asked: string[]
  readonly headers: IncomingMessage['headers'][]
  openRequests(): number
}

/** Answers everything with the handler. */
export async function startHttp(handler: Handler): Promise<HttpServer> {
  const asked: string[] = []
  const headers: HttpServer['headers'] = []
  let open = 0
  const server = createServer((request, response) => {
    open++
    response.once('close', () => open--)
    headers.push(request.headers)
    void handler(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    headers,
    openRequests: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const says = (words: string) => ({ content: [{ type: 'text', text: words }] })

function json(response: ServerResponse, id: unknown, result: Json): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

function stream(response: ServerResponse): (data: Json, id?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (data, id) =>
    response.write(`${id ? `id: ${id}\n` : ''}data: ${JSON.stringify({ jsonrpc: '2.0', ...data })}\n\n`)
}

/** Writes until the other side has enough. */
function flood(response: ServerResponse, piece: string): void {
  while (!response.destroyed && response.write(piece)) {
    // As much as the pipe takes.
  }
  if (!response.destroyed) response.once('drain', () => flood(response, piece))
}

interface Call {
  id: unknown
  input: Json
  response: ServerResponse
  sessions: Set<string>
}

const TOOLS: Record<string, (call: Call) => void> = {
  echo: ({ id, input, response }) => json(response, id, says(String(input.text))),
  stream({ id, response }) {
    const send = stream(response)
    for (let time = 0; time < 100; time++)
      send({ method: 'notifications/message', params: { level: 'info', data: 'x' } })
    send({ id, result: says('streamed') })
    response.end()
  },
  cut({ response }) {
    stream(response)({ method: 'notifications/message', params: { level: 'info', data: 'x' } })
    response.end()
  },
  resume({ id, response }) {
    stream(response)({ method: 'notifications/message', params: { level: 'info', data: 'x' } }, `event-${id}`)
    response.end()
  },
  linger: ({ id, response }) => stream(response)({ id, result: says('that is all') }),
  reset: ({ response }) => response.destroy(),
  hang: () => {},
  'hang-stream': ({ response }) =>
    stream(response)({ method: 'notifications/message', params: { level: 'info', data: 'x' } }),
  'huge-json'({ response }) {
    response.setHeader('content-type', 'application/json')
    response.write('{"jsonrpc":"2.0","result":{"x":"')
    flood(response, 'x'.repeat(1024 * 1024))
  },
  'huge-event'({ response }) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: "')
    flood(response, 'x'.repeat(1024 * 1024))
  },
  'large-stream'({ id, response }) {
    const send = stream(response)
    const data = 'x'.repeat(1024 * 1024)
    for (let time = 0; time < 30; time++) send({ method: 'notifications/message', params: { level: 'info', data } })
    send({ id, result: says('still there') })
    response.end()
  },
  forget({ id, response, sessions }) {
    sessions.clear()
    json(response, id, says('forgotten'))
  },
  status: ({ input, response }) => response.writeHead(Number(input.status)).end('no s3cret'),
  html: ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>'),
  garbage: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"half'),
}

/** `forgotten`: what is said to a session that is not known. */
export async function startOddHttp(forgotten: { status: number; body?: Json } = { status: 404 }): Promise<HttpServer> {
  const sessions = new Set<string>()
  const server = await startHttp(async (request, response) => {
    const body = await text(request)
    const { id, method, params = {} } = body ? JSON.parse(body) : {}
    server.asked.push(`${request.method} ${method ?? ''}`.trim())
    const session = request.headers['mcp-session-id']
    if (request.method === 'GET') return resume(request, response)
    if (method === 'server/discover') return void response.writeHead(400).end()
    if (method === 'initialize') return initialize(id, params, response, sessions)
    if (!sessions.has(String(session)))
      return void response.writeHead(forgotten.status).end(JSON.stringify(forgotten.body ?? {}))
    if (request.method === 'DELETE') return void response.writeHead(200).end(String(sessions.delete(String(session))))
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/call') return TOOLS[params.name]?.({ id, input: params.arguments, response, sessions })
    const tools = Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } }))
    json(response, id, { tools: [...tools, { name: 'broken' }] })
  })
  return server
}

function resume({ headers }: IncomingMessage, response: ServerResponse): void {
  const [, id] = /^event-(\d+)$/.exec(String(headers['last-event-id'])) ?? []
  if (id === undefined) return void response.writeHead(405).end()
  stream(response)({ id: Number(id), result: says('resumed') })
  response.end()
}

function initialize(id: unknown, { protocolVersion }: Json, response: ServerResponse, sessions: Set<string>): void {
  const session = randomUUID()
  sessions.add(session)
  response.setHeader('mcp-session-id', session)
  json(response, id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } })
}
