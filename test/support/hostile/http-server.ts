// A tool server over HTTP with one tool, `go`, that answers some requests with an attack.
import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type HttpServer, startHttp } from '../connection/odd-http-server.ts'

interface Message {
  id?: number
  method?: string
  params?: { protocolVersion?: string }
}

export interface Attack {
  /** The method of the requests that are answered with it. */
  on: string
  act(response: ServerResponse, message: Message): void
}

export interface HostileHttp extends HttpServer {
  /** Bytes that the attacks could get rid of. */
  sent(): number
}

export async function startHostileHttp({ on, act }: Attack): Promise<HostileHttp> {
  let sent = 0
  const server = await startHttp(async (request, response) => {
    const body = await text(request)
    const message: Message = body ? JSON.parse(body) : {}
    if (message.method !== on) return answerNormally(response, message)
    const { socket } = response
    const before = socket?.bytesWritten ?? 0
    response.once('close', () => {
      sent += (socket?.bytesWritten ?? 0) - before
    })
    act(response, message)
  })
  return { ...server, sent: () => sent }
}

function answerNormally(response: ServerResponse, { id, method, params }: Message): void {
  if (method === undefined) return void response.writeHead(405).end()
  if (id === undefined) return void response.writeHead(202).end()
  const { protocolVersion } = params ?? {}
  const results: Record<string, object> = {
    initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'hostile', version: '1' } },
    'tools/list': { tools: [{ name: 'go', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  }
  const result = results[method]
  const outcome = result ? { result } : { error: { code: -32_601, message: 'no such method' } }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
}

/** The same piece again and again, until the other side has had enough. */
export const endless =
  (status: number, type: string, piece: string): Attack['act'] =>
  (response) => {
    response.writeHead(status, { 'content-type': type })
    const more = () => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }
