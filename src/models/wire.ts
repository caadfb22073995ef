/** The fetch that providers get: it reports every sign of life, follows no redirect, and takes only streams. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Trouble } from './trouble.ts'
import type { Watch } from './watch.ts'

export type Fetch = typeof globalThis.fetch

/** Model objects are kept between turns, so the attempt that a request belongs to cannot be among their parts. */
export const watching = new AsyncLocalStorage<Watch>()

const LONGEST_DETAIL_BYTES = 64 * 1024

export function watchedFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    // A redirect to another host would take the key along.
    const response = await fetch(input, { ...init, redirect: 'manual' })
    const watch = watching.getStore()
    if (response.body === null || watch === undefined) return response
    watch.heard(0)
    const { status, statusText, headers } = response
    const body = tapped(response.body, watch)
    if (response.ok && headers.get('content-type')?.startsWith('application/json')) throw await noStream(body)
    return new Response(body, { status, statusText, headers })
  }
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

function tapped(body: Bytes, watch: Watch): Bytes {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      watch.heard(value.byteLength)
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Most often an error in the clothes of a success. */
async function noStream(body: Bytes): Promise<Trouble> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > LONGEST_DETAIL_BYTES) break
  }
  const detail = Buffer.concat(chunks).toString()
  return new Trouble('answered with JSON instead of a stream', { again: true, detail })
}
