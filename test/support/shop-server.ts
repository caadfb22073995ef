// A tool server over HTTP with sessions and one tool, `pay`, that takes the money before it answers in whichever way
// the test wants. What happened twice is paid twice.
import type { ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { startHttp } from './connection/odd-http-server.ts'

export interface Shop extends AsyncDisposable {
  url: string
  paid(): number
}

export interface Payment {
  response: ServerResponse
  /** Answers the call in good order. */
  answer(body: object, status?: number): void
}

interface Message {
  id?: number
  method?: string
  params?: { protocolVersion?: string }
}

/** `onPaid` gets the first payment; every later one is answered. */
export async function startShop(onPaid: (payment: Payment) => void): Promise<Shop> {
  let paid = 0
  const server = await startHttp(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message = (await json(request)) as Message
    const answer = (body: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json', 'mcp-session-id': 'one' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...body }))
    }
    if (message.id === undefined) return void response.writeHead(202).end()
    if (message.method !== 'tools/call') return answer(greeting(message))
    paid += 1
    if (paid === 1) onPaid({ response, answer })
    else answer({ result: { content: [{ type: 'text', text: 'paid' }] } })
  })
  return { url: server.url, paid: () => paid, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

function greeting({ method, params }: Message): object {
  const serverInfo = { name: 'shop', version: '1' }
  if (method === 'initialize')
    return { result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } }
  if (method === 'tools/list') return { result: { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] } }
  return { error: { code: -32_601, message: 'no such method' } }
}
