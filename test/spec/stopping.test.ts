// How the service ends: on a signal, by force, and when it refuses to start at all.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { agenthost } from '../support/agenthost.ts'
import { complaints } from '../support/complaints.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const FREE_PORTS = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }
const CLEAN = { code: 0, signal: null }
/** Far below the drain that these tests set, and far above what a stop takes. */
const AT_ONCE_MS = 5_000
const LONG_DRAIN = { SVC_DRAIN_SECONDS: '20' }

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came back is under test
async function dataOf(response: Response): Promise<any> {
  return ((await response.json()) as { data: unknown }).data
}

async function createAgent(api: string, name: string): Promise<{ id: number }> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name, prompt: 'p' })
  const response = await fetch(`${api}/api/v1/agents`, { method: 'POST', headers, body })
  expect(response.status).toBe(201)
  return dataOf(response)
}

async function openSocket(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** A request that has sent its head and part of its body. */
async function startSending({ api }: ServiceProcess) {
  const socket = await openSocket(api)
  const body = JSON.stringify({ name: 'slow', prompt: 'p' })
  const head = ['POST /api/v1/agents HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  // The server's own word that it reads: it answers the expectation.
  socket.write(`${[...head, length, 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  socket.write(body.slice(0, 5))
  return { socket, rest: body.slice(5) }
}

async function isRefused(url: string): Promise<boolean> {
  return await fetch(url).then(
    () => false,
    () => true,
  )
}

describe('a signal', () => {
  proves('running.stop', 'SIGTERM and SIGINT end the process with exit code 0 and free the home', async () => {
    await using home = await temporaryFolder()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const service = await startService({ home: home.path })
      expect(await service.end(signal), signal).toEqual(CLEAN)
      expect(complaints(service.stderr())).toEqual([])
      expect(await isRefused(service.api)).toBe(true)
    }
  })

  test('two at once, as npm and the terminal send them, are one', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path })
    process.kill(service.pid, 'SIGINT')
    expect(await service.end('SIGINT')).toEqual(CLEAN)
  })

  proves('running.stop', 'an open keep-alive connection delays nothing', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: LONG_DRAIN })
    const agent = new Agent({ keepAlive: true })
    for (const url of [`${service.api}/api/v1/health`, `${service.mcp}/health`, `${service.agents}/health`]) {
      const [response] = await once(request(url, { agent }).end(), 'response')
      await text(response)
    }
    expect(Object.keys(agent.freeSockets).length).toBe(3)
    const took = await elapsed(async () => expect(await service.end('SIGTERM')).toEqual(CLEAN))
    agent.destroy()
    expect(took).toBeLessThan(AT_ONCE_MS)
  })

  proves('running.stop', 'a connection that has sent nothing delays nothing, as browsers open them ahead', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: LONG_DRAIN })
    const socket = await openSocket(service.api)
    // Connections are accepted in turn: once this one is answered, the silent one is open too.
    expect((await fetch(`${service.api.replace('localhost', '127.0.0.1')}/api/v1/health`)).status).toBe(200)
    const took = await elapsed(async () => expect(await service.end('SIGTERM')).toEqual(CLEAN))
    socket.destroy()
    expect(took).toBeLessThan(AT_ONCE_MS)
  })

  proves('running.stop', 'a request under way is answered, while new connections are refused', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: LONG_DRAIN })
    const { socket, rest } = await startSending(service)
    const ended = service.end('SIGTERM')
    await expect.poll(() => isRefused(`${service.api}/api/v1/health`)).toBe(true)
    const answer = once(socket, 'data')
    socket.write(rest)
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 201 /)
    const took = await elapsed(async () => expect(await ended).toEqual(CLEAN))
    expect(took).toBeLessThan(AT_ONCE_MS)
    socket.destroy()
    await using again = await startService({ home: home.path })
    expect(await dataOf(await fetch(`${again.api}/api/v1/agents?q=slow`))).toMatchObject([{ name: 'slow' }])
  })

  proves('running.stop', 'a body that never ends is waited for no longer than SVC_DRAIN_SECONDS', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: { SVC_DRAIN_SECONDS: '1' } })
    const { socket } = await startSending(service)
    const took = await elapsed(async () => expect(await service.end('SIGTERM')).toEqual(CLEAN))
    socket.destroy()
    expect(took).toBeLessThan(AT_ONCE_MS)
  })

  test('a client that goes away in the middle of its body is no error of the service', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: { SVC_LOG_LEVEL: 'warn' } })
    const { socket } = await startSending(service)
    socket.resetAndDestroy()
    expect((await fetch(`${service.api}/api/v1/health`)).status).toBe(200)
    expect(await service.end('SIGTERM')).toEqual(CLEAN)
    expect(service.stderr()).toBe('')
  })
})

describe('one process on a home', () => {
  proves(
    ['running.folder-in-use', 'cli.exit-3-folder'],
    'a second process exits with 3, names the pid of the first and leaves it alone',
    async () => {
      await using home = await temporaryFolder()
      await using first = await startService({ home: home.path })
      const second = await agenthost(['serve', '--home', home.path], { env: { ...FREE_PORTS, HOME: home.path } })
      expect(second).toMatchObject({ code: 3, stdout: '' })
      expect(second.stderr).toMatch(/^agenthost: [^\n]*\n$/)
      expect(second.stderr).toMatch(new RegExp(`\\b${first.pid}\\b`))
      expect((await fetch(`${first.api}/api/v1/health`)).status).toBe(200)
    },
  )

  test('after kill -9 the next start works at once and has what was answered', async () => {
    await using home = await temporaryFolder()
    const killed = await startService({ home: home.path })
    const { id } = await createAgent(killed.api, 'kept')
    expect(await killed.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
    await using next = await startService({ home: home.path })
    expect(await dataOf(await fetch(`${next.api}/api/v1/agents/${id}`))).toMatchObject({ id, name: 'kept' })
  })

  proves('running.ids-never-reused', 'the id of a removed agent is not given again, nor after a restart', async () => {
    await using home = await temporaryFolder()
    const first = await startService({ home: home.path })
    const ids: number[] = []
    const createAndRemove = async (api: string) => {
      const { id } = await createAgent(api, 'again')
      ids.push(id)
      expect((await fetch(`${api}/api/v1/agents/${id}`, { method: 'DELETE' })).status).toBe(200)
    }
    await createAndRemove(first.api)
    await createAndRemove(first.api)
    await first.end('SIGKILL')
    await using second = await startService({ home: home.path })
    await createAndRemove(second.api)
    expect(new Set(ids).size).toBe(3)
    expect(ids).toEqual(ids.toSorted((one, other) => one - other))
  })
})

describe('a start that is refused', () => {
  proves('cli.exit-6', 'data of a newer program: exit code 6, one line, and the data stay as they are', async () => {
    await using home = await temporaryFolder()
    await (await startService({ home: home.path })).end('SIGTERM')
    const file = join(home.path, 'data', 'agenthost.sqlite')
    const version = (change: string) => {
      using db = new DatabaseSync(file)
      db.exec(change)
      return db.prepare('PRAGMA user_version').get()
    }
    version('PRAGMA user_version = 9999')
    const outcome = await agenthost(['serve', '--home', home.path], { env: { ...FREE_PORTS, HOME: home.path } })
    expect(outcome).toMatchObject({ code: 6, stdout: '' })
    expect(outcome.stderr).toMatch(/^agenthost: [^\n]*9999[^\n]*\n$/)
    expect(version('')).toEqual({ user_version: 9999 })
  })

  proves(
    'modes.never-open',
    'platform mode, which this version cannot guard, exits with 2 before any port is open',
    async () => {
      await using home = await temporaryFolder()
      const ways = [{ SVC_LOCAL_MODE: 'false' }, { SVC_LOCAL_MODE: 'false', SVC_INSECURE_NO_AUTH: 'true' }]
      for (const way of ways) {
        const env = { ...FREE_PORTS, HOME: home.path, ...way }
        const outcome = await agenthost(['serve', '--home', home.path], { env })
        expect(outcome).toMatchObject({ code: 2, stdout: '' })
        expect(outcome.stderr).toMatch(/^agenthost: local_mode[^\n]*\n$/)
      }
      await writeFile(join(home.path, 'config.yaml'), 'agenthost: 1\nlocal_mode: false\n')
      const env = { ...FREE_PORTS, HOME: home.path }
      expect(await agenthost(['serve', '--home', home.path], { env })).toMatchObject({ code: 2, stdout: '' })
    },
  )

  test('a PostgreSQL address, which this version cannot use, exits with 2 and does not show the password', async () => {
    await using home = await temporaryFolder()
    const env = { ...FREE_PORTS, HOME: home.path, SVC_DATABASE_URL: 'postgres://me:canary@localhost/db' }
    const outcome = await agenthost(['serve', '--home', home.path], { env })
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toMatch(/^agenthost: database_url[^\n]*\n$/)
    expect(outcome.stderr).not.toContain('canary')
  })

  test('a database file that is none: exit code 1 and one line that names it, without a stack trace', async () => {
    await using home = await temporaryFolder()
    await (await startService({ home: home.path })).end('SIGTERM')
    const file = join(home.path, 'data', 'agenthost.sqlite')
    await writeFile(file, 'this is not a database, and long enough to be looked at as one'.repeat(20))
    const outcome = await agenthost(['serve', '--home', home.path], { env: { ...FREE_PORTS, HOME: home.path } })
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^agenthost: [^\n]*\n$/)
    expect(outcome.stderr).toContain(file)
  })

  test('a stack trace appears at log level debug only', async () => {
    await using home = await temporaryFolder()
    await writeFile(join(home.path, 'data'), 'a file where the folder belongs')
    const start = (level: string) =>
      agenthost(['serve', '--home', home.path, '--log-level', level], { env: { ...FREE_PORTS, HOME: home.path } })
    const [quiet, loud] = await Promise.all([start('info'), start('debug')])
    expect(quiet).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^agenthost: [^\n]*\n$/) })
    expect(loud.stderr).toMatch(/\n\s+at /)
  })
})
