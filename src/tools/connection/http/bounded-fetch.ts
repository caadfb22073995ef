/** A fetch that reads no more of an answer than a message may have; a stream of many small messages may go on for ever. */
import type { FetchLike } from '@modelcontextprotocol/client'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import { tooLarge } from '../message-filter.ts'

type Counter = (chunk: Uint8Array) => number

/** A Response of these cannot be made anew, and has nothing to read. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** `onTooLarge` gets what was sent, before the answer breaks off. */
export function createBoundedFetch(onTooLarge: (sent: string) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, statusText, headers } = response
    if (!body || WITHOUT_BODY.has(status)) return response
    const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false
    const bounded = body.pipeThrough(
      bound(isStream ? countEvent() : countAll(), () => {
        if (typeof init?.body === 'string') onTooLarge(init.body)
      }),
    )
    return new Response(bounded, { status, statusText, headers })
  }
}

function bound(count: Counter, onTooLarge: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      if (count(chunk) <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk)
      onTooLarge()
      controller.error(tooLarge())
    },
  })
}

function countAll(): Counter {
  let bytes = 0
  return (chunk) => {
    bytes += chunk.length
    return bytes
  }
}

const NEWLINE = 10
const RETURN = 13

/** Bytes of the event that is coming in. An empty line ends it; lines end with either character, or with both. */
function countEvent(): Counter {
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
    return bytes
  }
}
