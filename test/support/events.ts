// Reads server-sent events off an answer, one after the other, the way a browser would.
import { expect } from 'vitest'
import type { TestApp } from './app.ts'

export interface ServerEvent {
  event: string
  id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is under test
  data: any
  /** Lines that begin with a colon: signs of life. */
  comment: string | undefined
}

export interface EventReader {
  /** The next event, or undefined when the stream has ended. */
  next(): Promise<ServerEvent | undefined>
  /** Everything up to the end of the stream. */
  rest(): Promise<ServerEvent[]>
  /** Goes away, as a closed browser tab does. */
  leave(): Promise<void>
}

export function readEvents(response: Response): EventReader {
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''

  async function next(): Promise<ServerEvent | undefined> {
    for (let end = text.indexOf('\n\n'); end < 0; end = text.indexOf('\n\n')) {
      const { value, done } = await reader.read()
      if (done) return undefined
      text += decoder.decode(value, { stream: true })
    }
    const block = text.slice(0, text.indexOf('\n\n'))
    text = text.slice(block.length + 2)
    return parse(block)
  }

  async function rest(): Promise<ServerEvent[]> {
    const all: ServerEvent[] = []
    for (let event = await next(); event; event = await next()) all.push(event)
    return all
  }

  return { next, rest, leave: () => reader.cancel() }
}

function parse(block: string): ServerEvent {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
  const data = field('data')
  return {
    ...{ event: field('event') ?? '', id: field('id'), comment: field('') },
    data: data === undefined ? undefined : JSON.parse(data),
  }
}

/** The answer to GET /runs/:id/events, not read yet. */
export function openEvents(app: TestApp, id: number | string, headers: Record<string, string> = {}, method = 'GET') {
  const url = `http://localhost:8585/api/v1/runs/${id}/events`
  return app.fetch('api', new Request(url, { method, headers: { host: 'localhost:8585', ...headers } }))
}

export const watchRun = async (app: TestApp, id: number, headers: Record<string, string> = {}) =>
  readEvents(await openEvents(app, id, headers))
