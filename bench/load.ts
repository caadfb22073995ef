/**
 * A client that costs little: keep-alive sockets, one request at a time on each, nothing parsed but the length.
 * Run as a process of its own: `node bench/load.ts '{"port":…}'` prints one line of JSON.
 */
import { createConnection, type Socket } from 'node:net'

export interface LoadOptions {
  port: number
  path: string
  body: string
  connections: number
  seconds: number
  /** Ends after so many requests, when that comes first. */
  count?: number
  /** Requests per second over all connections; as many as go when left out. */
  rate?: number
}

export interface LoadResult {
  per_second: number
  p50_ms: number
  p99_ms: number
  /** Answers that were not 202. */
  refused: number
}

const options: LoadOptions = JSON.parse(process.argv[2] ?? '{}')
const request = Buffer.from(
  `POST ${options.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(options.body)}\r\n\r\n${options.body}`,
)
const latencies: number[] = []
let left = options.count ?? Number.POSITIVE_INFINITY
let refused = 0
const began = performance.now()
const deadline = began + options.seconds * 1000
/** With a rate, each connection has its own timetable: a late answer does not excuse the next request. */
const interval = options.rate ? (options.connections * 1000) / options.rate : 0

await Promise.all(Array.from({ length: options.connections }, (_, index) => drive(index)))
const elapsed = (performance.now() - began) / 1000
latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
const result: LoadResult = { per_second: latencies.length / elapsed, p50_ms: at(0.5), p99_ms: at(0.99), refused }
process.stdout.write(`${JSON.stringify(result)}\n`)

async function drive(index: number): Promise<void> {
  const socket = createConnection({ port: options.port, host: '127.0.0.1', noDelay: true })
  let due = began + (index * interval) / options.connections
  while (performance.now() < deadline && left-- > 0) {
    const wait = due - performance.now()
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait))
    const sent = interval ? due : performance.now()
    const status = await ask(socket)
    latencies.push(performance.now() - sent)
    if (status !== 202) refused += 1
    due += interval
  }
  socket.destroy()
}

function ask(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (text.length < head + 4 + length) return
      socket.off('data', onData)
      resolve(Number(text.slice(9, 12)))
    }
    socket.on('data', onData)
    socket.once('error', reject)
    socket.write(request, () => socket.off('error', reject))
  })
}
