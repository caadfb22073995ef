/** A request as the doors see it, whichever way it came: straight from a connection, or as a Request. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../contract/errors.ts'
import type { NodeBinding } from './node-binding.ts'

export interface Exchange {
  readonly method: string
  readonly path: string
  /** By its name in lower case; several of one name are joined by commas. */
  header(name: string): string | undefined
  /** Rejects with PAYLOAD_TOO_LARGE beyond so many bytes, with INVALID_REQUEST when it ends early. Read once. */
  body(most: number): Promise<Uint8Array>
  /** Of the other end of the connection; a call in process has none. */
  readonly remoteAddress: string | undefined
}

export const fromConnection = (incoming: IncomingMessage, path: string): Exchange => ({
  method: incoming.method ?? '',
  path,
  header: (name) => joined(incoming.rawHeaders, name),
  body: (most) => takeFrom(incoming, most),
  remoteAddress: incoming.socket.remoteAddress,
})

export const fromRequest = (request: Request, path: string, binding: NodeBinding | undefined): Exchange => ({
  method: request.method,
  path,
  header: (name) => request.headers.get(name) ?? undefined,
  body: (most) => (binding ? takeFrom(binding.incoming, most) : readFrom(request.body ?? [], most)),
  remoteAddress: binding?.incoming.socket.remoteAddress,
})

/** Node itself would keep the first of two, and hide from us that there was another. */
function joined(rawHeaders: readonly string[], name: string): string | undefined {
  let all: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const written = rawHeaders[index] ?? ''
    if (written.length !== name.length || written.toLowerCase() !== name) continue
    const value = rawHeaders[index + 1] ?? ''
    all = all === undefined ? value : `${all}, ${value}`
  }
  return all
}

/** By events: an iterator, or a web stream around it, would cost more than all the rest of a small request. */
function takeFrom(incoming: IncomingMessage, most: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    chunks.push(chunk)
    if (size <= most) return
    incoming.off('data', onData)
    reject(tooLarge(most))
  }
  incoming.on('data', onData)
  incoming.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
  incoming.once('close', () => {
    if (!incoming.readableEnded) reject(endedEarly())
  })
  return promise
}

async function readFrom(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > most) throw tooLarge(most)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof AppError ? error : endedEarly()
  }
  return Buffer.concat(chunks)
}

export const tooLarge = (most: number) =>
  new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${most / 1024} KiB`)

/** A client that goes away in the middle is no failure of ours. */
const endedEarly = () => new AppError('INVALID_REQUEST', 'The request is not valid: the body ended early')
