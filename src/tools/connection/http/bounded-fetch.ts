/** A fetch that reads no more of an answer than a message may have; a stream of many small messages may go on for ever. */
import { setImmediate as immediately } from 'node:timers/promises'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { ServerFailure } from '../connection.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import { notUnderstood, tooLarge } from '../message-filter.ts'

/** What is wrong with an answer so far. */
type Check = (chunk: Uint8Array) => ServerFailure | undefined

/** A Response of these cannot be made anew, and has nothing to read. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** `onRefused` gets what was sent, before the answer breaks off. */
export function createBoundedFetch(onRefused: (sent: string, why: ServerFailure) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, statusText, headers } = response
    if (!body || WITHOUT_BODY.has(status)) return response
    const bounded = body.pipeThrough(
      bound(isEventStream(response, init) ? everyEvent() : theWhole(), (why) => {
        if (typeof init?.body === 'string') onRefused(init.body, why)
      }),
    )
    return new Response(bounded, { status, statusText, headers })
  }
}

/** Only where the SDK reads event by event: anything else it reads whole, whatever the server calls it. */
function isEventStream({ ok, status, headers }: Response, init: RequestInit | undefined): boolean {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  return ok && status !== 202 && type === 'text/event-stream' && (isListening(init) || isAsking(init?.body))
}

const isListening = (init: RequestInit | undefined) => (init?.method ?? 'GET') === 'GET'

/** A notification gets no answer, so what comes back is not read as one. */
function isAsking(body: unknown): boolean {
  const sent = typeof body === 'string' ? JSON.parse(body) : undefined
  return typeof sent === 'object' && sent !== null && 'method' in sent && 'id' in sent
}

function bound(check: Check, onRefused: (why: ServerFailure) => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async transform(chunk, controller) {
      // One that never stops sending leaves the others their turn.
      await immediately()
      const failure = check(chunk)
      if (!failure) return controller.enqueue(chunk)
      onRefused(failure)
      controller.error(failure)
    },
  })
}

const NEWLINE = 10
const RETURN = 13
const BLANK = 32
const BRACKET = 91

/** No message is a list: hundreds of thousands of small ones in one answer would keep everybody waiting. */
function theWhole(): Check {
  let bytes = 0
  let hasBegun = false
  return (chunk) => {
    bytes += chunk.length
    if (bytes > MAX_MESSAGE_BYTES) return tooLarge()
    const first = hasBegun ? undefined : chunk.find((byte) => byte > BLANK)
    hasBegun ||= first !== undefined
    return first === BRACKET ? notUnderstood() : undefined
  }
}

/** An empty line ends an event; lines end with either character, or with both. */
function everyEvent(): Check {
  let bytes = 0
  let last = NEWLINE
  let isLineEmpty = true
  return (chunk) => {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      bytes++
      if (byte !== NEWLINE && byte !== RETURN) isLineEmpty = false
      else if (byte === RETURN || last !== RETURN) {
        if (isLineEmpty) bytes = 0
        isLineEmpty = true
      }
      last = byte
    }
    return bytes > MAX_MESSAGE_BYTES ? tooLarge() : undefined
  }
}
