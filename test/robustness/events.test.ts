// Event streams under clients that mean no good, or simply vanish: others notice nothing, and nothing is left behind.
import { once } from 'node:events'
import { type Context, Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { type Listener, listen } from '../../src/http/listen.ts'
import { hangUpWhenStuck } from '../../src/http/node-binding.ts'
import type { Store } from '../../src/store/store.ts'
import { startApp } from '../support/app.ts'
import { askAndIgnore, descriptors, readUntil } from '../support/event-sockets.ts'
import { openEvents, readEvents, watchRun } from '../support/events.ts'
import { createGate } from '../support/gate.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, startRun } from '../support/run-calls.ts'
import { type ServiceProcess, type StartOptions, startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { until } from '../support/until.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

async function post({ api }: ServiceProcess, path: string, body: object) {
  const response = await fetch(`${api}/api/v1${path}`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify(body),
  })
  return ((await response.json()) as { data: { id: number; run_id: number } }).data
}

/** A service with one run that goes on until it is cancelled. */
async function startWithRun(options: StartOptions, task = 'sleep 3600000') {
  const service = await startService(options)
  const { id } = await post(service, '/agents', { name: 'helper', prompt: 'Help.' })
  const { run_id } = await post(service, `/agents/${id}/run`, { task })
  return { service, run: run_id, path: `/api/v1/runs/${run_id}/events` }
}

test('200 watchers of one run, 50 of whom never read: 150 see its end, and all descriptors come back', async () => {
  await using folder = await temporaryFolder()
  const { service, run, path } = await startWithRun({ home: folder.path }, `${'x'.repeat(200_000)}\nsleep 3600000`)
  await using _ = service
  await fetch(`${service.api}/api/v1/health`)
  const before = descriptors(service.pid)
  const silent = await Promise.all(Array.from({ length: 50 }, () => askAndIgnore(service.api, path)))
  const readers = await Promise.all(Array.from({ length: 150 }, () => askAndIgnore(service.api, path)))
  const watching = readers.map((socket) => readUntil(socket, 'event: end'))
  await until('all watchers are connected', () => descriptors(service.pid) >= before + 195)
  await post(service, `/runs/${run}/cancel`, {})
  for (const text of await Promise.all(watching)) expect(text).toMatch(/event: run[\s\S]*event: step[\s\S]*event: end/)
  expect((await fetch(`${service.api}/api/v1/health`)).status).toBe(200)
  for (const socket of [...silent, ...readers]) socket.destroy()
  await until('the descriptors are back', () => descriptors(service.pid) <= before + 20)
}, 60_000)

test('clients that reset the connection in the middle of a stream leave nothing, not even a word in the log', async () => {
  await using folder = await temporaryFolder()
  const { service, path } = await startWithRun({ home: folder.path, env: { SVC_LOG_LEVEL: 'warn' } })
  await using _ = service
  await fetch(`${service.api}/api/v1/health`)
  const [before, said] = [descriptors(service.pid), service.stderr()]
  for (let round = 0; round < 5; round++) {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => askAndIgnore(service.api, path)))
    await Promise.all(sockets.map((socket) => readUntil(socket, 'event: step')))
    for (const [index, socket] of sockets.entries()) index % 2 ? socket.destroy() : socket.resetAndDestroy()
  }
  await until('the descriptors are back', () => descriptors(service.pid) <= before + 5)
  expect(service.stderr()).toBe(said)
  expect((await fetch(`${service.api}/api/v1/health`)).status).toBe(200)
}, 60_000)

test('rubbish for a Last-Event-ID is refused in the envelope, byte for byte as it may come', async () => {
  await using folder = await temporaryFolder()
  const { service, path } = await startWithRun({ home: folder.path })
  await using _ = service
  for (const rubbish of ['', 'x', '\xff\xfe', '٣', '1'.repeat(5000), '0x10', '1\t2', '-1', 'NaN', '[object Object]']) {
    const socket = await askAndIgnore(service.api, path, [`Last-Event-ID: ${rubbish}`, 'Connection: close'])
    const answer = await readUntil(socket, '}}')
    expect(answer, rubbish.slice(0, 20)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"INVALID_REQUEST"/)
    socket.destroy()
  }
}, 60_000)

test('a stop ends streams and waits at once, although the run has not ended', async () => {
  await using folder = await temporaryFolder()
  const { service, run, path } = await startWithRun({ home: folder.path, env: { SVC_DRAIN_SECONDS: '4' } })
  await using _ = service
  const reader = readEvents(await fetch(`${service.api}${path}`))
  await reader.next()
  const waiting = await askAndIgnore(service.api, `/api/v1/runs/${run}?wait=60`)
  // Requests are taken in turn: when this one is answered, the one before is waiting.
  await fetch(`${service.api.replace('localhost', '127.0.0.1')}/api/v1/health`)
  const began = performance.now()
  const ended = service.end('SIGTERM')
  const events = await reader.rest()
  expect(events.map(({ event }) => event)).not.toContain('end')
  expect(await readUntil(waiting, '"error":null}')).toContain(`{"id":${run},`)
  expect(performance.now() - began).toBeLessThan(3000)
  expect(await ended).toEqual({ code: 0, signal: null })
  waiting.destroy()
}, 60_000)

describe('a stream', () => {
  test('reads nothing from the database while its reader takes nothing', async () => {
    const gate = createGate()
    let reads = 0
    const counting = (store: Store): Store => {
      const changes: Store['runs']['changes'] = (id, after) => {
        reads++
        return store.runs.changes(id, after)
      }
      return { ...store, runs: { ...store.runs, changes } }
    }
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]), around: counting })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, Array(10).fill('call gate {}').join('\n'))
    await gate.arrived(1)
    const response = await openEvents(app, run)
    gate.open()
    await endedRun(app, run)
    expect(reads, 'the one that knows whether there is such a run').toBe(1)
    const events = await readEvents(response).rest()
    expect(events.at(-1)).toMatchObject({ event: 'end' })
    expect(reads).toBe(2)
  })

  test('that its reader has left watches no longer', async () => {
    const gate = createGate()
    await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call gate {}')
    await gate.arrived(1)
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    for (let round = 0; round < 20; round++) {
      const reader = await watchRun(app, run)
      for (const _ of ['run', 'step', 'step']) await reader.next()
      const waiting = reader.next()
      await reader.leave()
      expect(await waiting).toBeUndefined()
    }
    expect(timers()).toBeLessThanOrEqual(before)
    gate.open()
  })
})

describe('a reader that takes nothing', () => {
  interface Endless extends AsyncDisposable {
    listener: Listener
    cancelled: Promise<void>
    sent(): number
  }

  /** A port whose only answer is a stream without an end. */
  async function endless(mostSilenceMs: number | undefined): Promise<Endless> {
    const cancelled = Promise.withResolvers<void>()
    let sent = 0
    const app = new Hono()
    app.get('/', (c: Context) => {
      if (mostSilenceMs !== undefined) hangUpWhenStuck(c, mostSilenceMs)
      const chunk = new Uint8Array(65_536)
      const pull = (controller: ReadableStreamDefaultController) => {
        sent += chunk.length
        controller.enqueue(chunk)
      }
      return new Response(new ReadableStream({ pull, cancel: () => cancelled.resolve() }, { highWaterMark: 0 }))
    })
    const { fetch } = app
    const listener = await listen({ label: 'test', setting: '-', host: '127.0.0.1', port: 0, fetch })
    const close = () => listener.close(0)
    return { listener, cancelled: cancelled.promise, sent: () => sent, [Symbol.asyncDispose]: close }
  }

  /** Resolves when the buffers of both ends are full: nothing more is sent. */
  async function stuck({ sent }: Endless): Promise<void> {
    for (let before = -1; before !== sent() || before === 0; ) {
      before = sent()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  test('loses its connection, and the stream is cancelled', async () => {
    await using port = await endless(300)
    const socket = await askAndIgnore(port.listener.url, '/')
    await port.cancelled
    socket.resume()
    await once(socket, 'close')
  })

  test('may be slow: whoever takes something now and then stays', async () => {
    await using port = await endless(300)
    const socket = await askAndIgnore(port.listener.url, '/')
    let cancelled = false
    void port.cancelled.then(() => {
      cancelled = true
    })
    for (let round = 0; round < 12; round++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      for (let taken = 0; taken < 4_000_000; ) taken += (await once(socket.resume(), 'data'))[0].length
      socket.pause()
    }
    expect(cancelled).toBe(false)
    socket.destroy()
    await port.cancelled
  })

  test('does not hold up a stop', async () => {
    await using port = await endless(undefined)
    const socket = await askAndIgnore(port.listener.url, '/')
    await stuck(port)
    const began = performance.now()
    await port.listener.close(20_000)
    expect(performance.now() - began).toBeLessThan(5000)
    await port.cancelled
    socket.destroy()
  })
})
