/** Opens a port on every address asked for, and closes it without cutting off who is being answered. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { EXIT } from '../contract/exit-codes.ts'
import { StartError } from '../contract/start-error.ts'
import type { NodeBinding } from './node-binding.ts'

export interface Listener {
  /** The address to print: what a client on this machine can use. */
  url: string
  /** Stops accepting, waits for answers under way, and after `within_ms` cuts off the rest. */
  close(within_ms: number): Promise<void>
}

export interface ListenOptions {
  /** What the port is for and which setting moves it; both go into the message when it is taken. */
  label: string
  setting: string
  host: string | undefined
  port: number
  fetch: Fetch
  /** Takes a request straight from its connection, or leaves it to `fetch` by answering false. */
  direct?: Direct | undefined
}

/** The connection comes along; it is missing for what never became a request. */
type Fetch = (request: Request, binding?: NodeBinding) => Response | Promise<Response>
type Direct = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

/** A port on one address, and the answers that are under way on it. */
interface Opened {
  server: Server
  answers: ReadonlySet<ServerResponse>
}

const LOOPBACK = ['127.0.0.1', '::1']
/** Slow or silent clients lose the connection; a whole request of 1 MiB needs far less. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
}
const FREE_PORT_ATTEMPTS = 20
/** How often a stop looks for clients that do not take their answer. */
const LOOK_EVERY_MS = 200

export async function listen(options: ListenOptions): Promise<Listener> {
  const hosts = options.host ? [options.host] : LOOPBACK
  for (let attempt = 1; ; attempt++) {
    try {
      return toListener(await openAll(hosts, options))
    } catch (error) {
      // A port free on one address may be taken on the next: with port 0 another one is as good.
      if (options.port === 0 && isTaken(error) && attempt < FREE_PORT_ATTEMPTS) continue
      throw startError(error, options)
    }
  }
}

async function openAll(hosts: readonly string[], options: ListenOptions): Promise<Opened[]> {
  const all: Opened[] = []
  try {
    for (const host of hosts) {
      const [first] = all
      const port = first ? portOf(first.server) : options.port
      const opened = await openOne(host, port, options).catch((error) => {
        if (first && isMissingAddress(error)) return undefined
        throw error
      })
      if (opened) all.push(opened)
    }
    return all
  } catch (error) {
    for (const { server } of all) server.close()
    throw error
  }
}

function openOne(host: string, port: number, { fetch, direct }: ListenOptions): Promise<Opened> {
  const adapter = getRequestListener(toAdapter(fetch), adapterOptions(fetch))
  const server = createServer(TIMEOUTS, (incoming, outgoing) => {
    if (!direct?.(incoming, outgoing)) void adapter(incoming, outgoing)
  })
  const answers = new Set<ServerResponse>()
  server.on('clientError', endConnection)
  server.on('request', (_request, response) => {
    answers.add(response)
    response.once('close', () => {
      answers.delete(response)
      // While stopping, a connection that has its answer is idle from then on: nobody else would close it.
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve({ server, answers })
    })
  })
}

/** We speak HTTP/1.1 only, so the connection is always of that kind. */
const toAdapter = (fetch: Fetch) => (request: Request, binding: unknown) => fetch(request, binding as NodeBinding)

/** A Host that is no name at all never becomes a request; the app refuses it in its own words all the same. */
const adapterOptions = (fetch: Fetch) => ({
  overrideGlobalObjects: false,
  errorHandler: () => fetch(new Request('http://unreadable.invalid/', { headers: { host: 'unreadable.invalid' } })),
})

const STATUS_LINES: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** What is not HTTP gets a bare answer and no more of our descriptors; an answer under way is not mixed with it. */
function endConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  const isAnswering = '_httpMessage' in socket && socket._httpMessage
  if (!socket.writable || isAnswering) {
    socket.destroy()
    return
  }
  const status = STATUS_LINES[error.code ?? ''] ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

function toListener(all: Opened[]): Listener {
  const [first] = all as [Opened]
  return {
    url: `http://${shownHost(first.server)}:${portOf(first.server)}`,
    close: async (within_ms) => {
      await Promise.all(all.map((opened) => closeGently(opened, within_ms)))
    },
  }
}

async function closeGently({ server, answers }: Opened, within_ms: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const impatience = setInterval(() => hangUpOnStuck(answers), LOOK_EVERY_MS)
  const cutOff = setTimeout(() => server.closeAllConnections(), within_ms)
  await closed
  clearInterval(impatience)
  clearTimeout(cutOff)
}

/** An answer that goes on only when its reader takes what is there would hold up the stop for nothing. */
function hangUpOnStuck(answers: ReadonlySet<ServerResponse>): void {
  for (const answer of answers) if (answer.writableNeedDrain && !answer.writableEnded) answer.destroy()
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** "localhost" is what people type; the other names are for addresses chosen on purpose. */
function shownHost(server: Server): string {
  const { address, family } = server.address() as AddressInfo
  if (address === '127.0.0.1' || address === '0.0.0.0' || address === '::') return 'localhost'
  return family === 'IPv6' ? `[${address}]` : address
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
const isTaken = (error: unknown) => codeOf(error) === 'EADDRINUSE'
const isMissingAddress = (error: unknown) => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error) ?? '')

function startError(error: unknown, { label, setting, port, host }: ListenOptions): StartError {
  const reason = isTaken(error)
    ? `port ${port} (${label}) is taken by another program. Stop that program, or choose another port: ${setting}`
    : `cannot listen on ${host ?? 'loopback'} port ${port} (${label}): ${(error as Error).message}`
  return new StartError(reason, EXIT.failure, error)
}
