// A tool server over Streamable HTTP that is normal in everything but one fault, and writes down what it is asked.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { answerNormally, HTTP_FAULTS, type HttpFault } from './http-faults.ts'
import { isCallOf, type Message } from './protocol.ts'

interface SeenRequest {
  /** At the server itself, or at the other origin that it sends people to. */
  where: 'here' | 'elsewhere'
  method: string
  headers: IncomingHttpHeaders
  message: Message
  /** Of the answer, once it has begun. */
  status(): number
}

export interface MisbehavingHttp extends AsyncDisposable {
  url: string
  requests: SeenRequest[]
  close(): Promise<void>
}

export interface MisbehavingHttpOptions {
  /** `call`: the fault is in calls of the tool `fault` only. Each fault has its own default. */
  when?: 'always' | 'call'
  /** After how many calls loses-sessions forgets a session. */
  callsPerSession?: number
}

const PATH = '/mcp'

export async function startMisbehavingHttp(
  fault: HttpFault,
  { when = HTTP_FAULTS[fault].when, callsPerSession = 1 }: MisbehavingHttpOptions = {},
): Promise<MisbehavingHttp> {
  const requests: SeenRequest[] = []
  const sessions = new Map<string, { calls: number }>()
  const note = async (where: SeenRequest['where'], request: IncomingMessage, response: ServerResponse) => {
    const message = request.method === 'POST' ? ((await json(request)) as Message) : {}
    const { method = '', headers } = request
    requests.push({ where, method, headers, message, status: () => response.statusCode })
    return message
  }
  const other = await listen(async (request, response) => {
    const message = await note('elsewhere', request, response)
    answerNormally({ request, response, message, elsewhere: '', sessions, callsPerSession })
  })
  const first = await listen(async (request, response) => {
    if (request.url !== PATH) return void response.writeHead(404).end()
    const message = await note('here', request, response)
    const exchange = { request, response, message, elsewhere: other.url, sessions, callsPerSession }
    if (when === 'always' || isCallOf('fault', message)) await HTTP_FAULTS[fault].act(exchange)
    else answerNormally(exchange)
  })
  const close = async () => {
    await Promise.all([first.close(), other.close()])
  }
  return { url: first.url, requests, close, [Symbol.asyncDispose]: close }
}

async function listen(handle: RequestListener) {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}${PATH}`, close: () => closed(server) }
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
