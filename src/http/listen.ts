/** Opens a port on every address asked for, and closes it without cutting off who is being answered. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { EXIT } from '../contract/exit-codes.ts'
import { StartError } from '../contract/start-error.ts'

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
  fetch: (request: Request) => Response | Promise<Response>
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

async function openAll(hosts: readonly string[], options: ListenOptions): Promise<Server[]> {
  const servers: Server[] = []
  try {
    for (const host of hosts) {
      const [first] = servers
      const port = first ? portOf(first) : options.port
      const server = await openOne(host, port, options.fetch).catch((error) => {
        if (first && isMissingAddress(error)) return undefined
        throw error
      })
      if (server) servers.push(server)
    }
    return servers
  } catch (error) {
    for (const server of servers) server.close()
    throw error
  }
}

function openOne(host: string, port: number, fetch: ListenOptions['fetch']): Promise<Server> {
  const server = createServer(TIMEOUTS, getRequestListener(fetch, { ...ADAPTER, errorHandler: refuseWith(fetch) }))
  server.on('clientError', endConnection)
  // While stopping, a connection that has its answer is idle from then on: nobody else would close it.
  server.on('request', (_request, response) => {
    response.once('close', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}

const ADAPTER = { overrideGlobalObjects: false }

/** A Host that is no name at all never becomes a request; the app refuses it in its own words all the same. */
const refuseWith = (fetch: ListenOptions['fetch']) => () =>
  fetch(new Request('http://unreadable.invalid/', { headers: { host: 'unreadable.invalid' } }))

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

function toListener(servers: Server[]): Listener {
  const [first] = servers as [Server]
  return {
    url: `http://${shownHost(first)}:${portOf(first)}`,
    close: async (within_ms) => {
      await Promise.all(servers.map((server) => closeGently(server, within_ms)))
    },
  }
}

async function closeGently(server: Server, within_ms: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cutOff = setTimeout(() => server.closeAllConnections(), within_ms)
  await closed
  clearTimeout(cutOff)
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
