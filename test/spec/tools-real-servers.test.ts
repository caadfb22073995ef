// Servers that other people wrote, as published: the reference server over both transports, and the one for files.
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { startEverything } from '../support/connection/everything-http.ts'
import { isAlive, processesWith } from '../support/processes.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { sync } from '../support/sync-calls.ts'
import { serverFile } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'
import { proves } from './proves.ts'

const require = createRequire(import.meta.url)
const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
const FILESYSTEM = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const REPOSITORY = join(import.meta.dirname, '../..')
const TWENTY = Array.from({ length: 20 }, (_, n) => n)

const filesystem = (folder: string) => ({ command: process.execPath, args: [FILESYSTEM, folder] })

/** The reference server over stdio, behind a shell that writes down every start and becomes the server. */
function everything({ home }: TestApp, env: Record<string, string> = {}) {
  const file = join(home, 'starts')
  const args = ['-c', 'echo $$ >> "$0"; exec "$@"', file, process.execPath, EVERYTHING]
  const starts = () => readFileSync(file, 'utf8').trim().split('\n').map(Number)
  return { entry: { command: 'sh', args, env }, starts }
}

const put = (app: TestApp, servers: Record<string, object>) => app.put('default/servers.json', serverFile(servers))

async function serverNamed(app: TestApp, name: string) {
  const { data } = (await app.api('GET', '/mcp-servers')).body
  return data.find((server: { name: string }) => server.name === name)
}

async function toolNames(app: TestApp, server: string): Promise<string[]> {
  const { data } = (await app.api('GET', `/tools?server=${server}`)).body
  return data.map(({ name }: { name: string }) => name)
}

const callLine = (tool: string, input: object) => `call ${tool} ${JSON.stringify(input)}`

/** The tool steps of a run that makes these calls one after the other, and ends well. */
async function stepsOf(app: TestApp, agentId: number, ...lines: string[]) {
  const run = await endedRun(app, await startRun(app, agentId, lines.join('\n')))
  expect(run).toMatchObject({ status: 'completed', tool_calls_count: lines.length })
  return run.steps.filter(({ type }) => type === 'tool')
}

/** How much a process has read of anything: grows when a message reaches it. */
const bytesRead = (pid: number) => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

describe('in one environment', () => {
  proves(['tools.files', 'tools.own-name'], 'their tools are listed, names they share with their server', async () => {
    await using remote = await startEverything()
    await using app = await startApp()
    await put(app, { local: everything(app).entry, remote: { url: remote.url }, files: filesystem(app.home) })
    expect((await sync(app)).errors).toEqual([])
    const local = await toolNames(app, 'local')
    expect(local).toEqual(expect.arrayContaining(['local__echo', 'local__get-sum', 'local__get-env']))
    expect(await toolNames(app, 'remote')).toEqual(local.map((name) => name.replace('local', 'remote')))
    expect(await toolNames(app, 'files')).toEqual(expect.arrayContaining(['read_text_file', 'list_directory']))
    for (const name of ['local', 'remote', 'files']) {
      expect(await serverNamed(app, name)).toMatchObject({ status: 'up', error: null })
    }
  })

  test('an agent calls all of them in one run', async () => {
    await using remote = await startEverything()
    await using app = await startApp()
    await put(app, { local: everything(app).entry, remote: { url: remote.url } })
    const { id } = await createAgent(app)
    const sum = { a: 19, b: 23 }
    const steps = await stepsOf(
      app,
      id,
      ...['local', 'remote'].flatMap((server) => [
        callLine(`${server}__echo`, { message: `hello ${server}` }),
        callLine(`${server}__get-sum`, sum),
      ]),
    )
    expect(steps.map(({ server, status, output }) => [server, status, output])).toEqual([
      ['local', 'completed', 'Echo: hello local'],
      ['local', 'completed', 'The sum of 19 and 23 is 42.'],
      ['remote', 'completed', 'Echo: hello remote'],
      ['remote', 'completed', 'The sum of 19 and 23 is 42.'],
    ])
  })

  proves('tools.error-is-answer', 'files are read inside of the folder, and outside of it refused', async () => {
    await using app = await startApp()
    const folder = join(app.home, 'reports')
    await mkdir(folder)
    await writeFile(join(folder, 'note.txt'), 'Written by the test.')
    await writeFile(join(app.home, 'private.txt'), 'Not for agents.')
    await put(app, { files: filesystem(folder) })
    const { id } = await createAgent(app)
    const [inside, outside, after] = await stepsOf(
      app,
      id,
      callLine('read_text_file', { path: join(folder, 'note.txt') }),
      callLine('read_text_file', { path: join(folder, '../private.txt') }),
      callLine('list_directory', { path: folder }),
    )
    expect(JSON.stringify(inside?.output)).toContain('Written by the test.')
    expect(outside).toMatchObject({ status: 'error', output: expect.stringContaining('Access denied') })
    expect(JSON.stringify(outside)).not.toContain('Not for agents.')
    expect(JSON.stringify(after?.output)).toContain('note.txt')
  })
})

describe('many at once', () => {
  proves('tools.shared-connection', 'twenty first runs start one process, each gets its own answer', async () => {
    await using app = await startApp()
    const server = everything(app)
    await put(app, { local: server.entry })
    const { id } = await createAgent(app)
    const runs = await Promise.all(TWENTY.map((n) => stepsOf(app, id, callLine('echo', { message: `run ${n}` }))))
    expect(runs.map(([step]) => step?.output)).toEqual(TWENTY.map((n) => `Echo: run ${n}`))
    expect(server.starts()).toHaveLength(1)
  })

  test('twenty calls at once over HTTP get their own answer each', async () => {
    await using remote = await startEverything()
    await using app = await startApp()
    await put(app, { remote: { url: remote.url } })
    await sync(app)
    const { data } = (await app.api('GET', '/tools?q=get-sum')).body
    const answers = await Promise.all(
      TWENTY.map((n) => app.api('POST', `/tools/${data[0].id}/call`, { arguments: { a: n, b: 100 } })),
    )
    expect(answers.map(({ body }) => body.data.output)).toEqual(
      TWENTY.map((n) => `The sum of ${n} and 100 is ${n + 100}.`),
    )
  })
})

describe('a server that goes away', () => {
  proves(
    ['tools.error-is-answer', 'tools.back-off', 'servers.record-status'],
    'a process killed in the middle of a call costs that call, is down within a second, and comes back',
    async () => {
      await using app = await startApp()
      const server = everything(app)
      await put(app, { local: server.entry })
      await sync(app)
      const [pid = 0] = server.starts()
      const { id } = await createAgent(app)
      const before = bytesRead(pid)
      const long = callLine('trigger-long-running-operation', { duration: 600, steps: 1 })
      const run = await startRun(app, id, `${long}\n${callLine('echo', { message: 'back again' })}`)
      await until('the call has reached the server', () => bytesRead(pid) > before)
      process.kill(pid, 'SIGKILL')
      await until('it is down', async () => (await serverNamed(app, 'local')).status === 'down', 1_000)
      const { status, steps } = await endedRun(app, run)
      const [killed, next] = steps.filter(({ type }) => type === 'tool')
      expect(killed).toMatchObject({ status: 'error', error: expect.stringContaining('ended by SIGKILL') })
      expect(next).toMatchObject({ status: 'completed', output: 'Echo: back again' })
      expect(status).toBe('completed')
      expect(await serverNamed(app, 'local')).toMatchObject({ status: 'up', error: null })
      expect(server.starts()).toHaveLength(2)
    },
  )

  test('an HTTP server that was restarted between two calls, and forgot its session, costs nothing', async () => {
    const first = await startEverything()
    await using app = await startApp()
    await put(app, { remote: { url: first.url } })
    const { id } = await createAgent(app)
    await stepsOf(app, id, callLine('echo', { message: 'before' }))
    await first.stop()
    await using _second = await startEverything(first.port)
    const [step] = await stepsOf(app, id, callLine('echo', { message: 'after' }))
    expect(step).toMatchObject({ status: 'completed', output: 'Echo: after', attempts: 1 })
    expect(await serverNamed(app, 'remote')).toMatchObject({ status: 'up', error: null })
  })

  proves('servers.record-status', 'an HTTP server that is gone is down, and up again once it is back', async () => {
    const first = await startEverything()
    await using app = await startApp()
    await put(app, { remote: { url: first.url } })
    const { id } = await createAgent(app)
    await stepsOf(app, id, callLine('echo', { message: 'before' }))
    await first.stop()
    const [lost] = await stepsOf(app, id, callLine('echo', { message: 'into the void' }))
    expect(lost).toMatchObject({ status: 'error' })
    const down = await until('it is down', async () => {
      const record = await serverNamed(app, 'remote')
      return record.status === 'down' && record
    })
    expect(down.error).toMatch(/could not be reached|refuse/)
    await using _second = await startEverything(first.port)
    await until('it is up', async () => (await serverNamed(app, 'remote')).status === 'up', 20_000)
    await stepsOf(app, id, callLine('echo', { message: 'after' }))
  })
})

describe('processes', () => {
  proves('tools.idle-close', 'npx starts a tree of them, and closing it leaves none', async () => {
    await using app = await startApp()
    const env = { npm_config_cache: join(app.home, 'npm'), npm_config_update_notifier: 'false' }
    const args = ['--no-install', 'mcp-server-everything']
    await put(app, { local: { command: 'npx', args, env, cwd: REPOSITORY } })
    const { id } = await createAgent(app)
    const [step] = await stepsOf(app, id, callLine('echo', { message: 'through npx' }))
    expect(step).toMatchObject({ status: 'completed', output: 'Echo: through npx' })
    const tree = processesWith(`npm_config_cache=${env.npm_config_cache}`)
    expect(tree.length).toBeGreaterThan(1)
    await put(app, {})
    await sync(app)
    await until('the whole tree is gone', () => !tree.some(isAlive))
    expect(processesWith(env.npm_config_cache)).toEqual([])
  })

  proves('tools.secrets-masked', 'they know what their file gives them, and nothing else of the service', async () => {
    vi.stubEnv('CLOUD_ACCESS_KEY', 'key-of-the-service')
    await using app = await startApp()
    const given = { API_TOKEN: '${TOKEN}', REGION: 'eu' }
    await app.put('default/variables.yml', 'TOKEN: 9f86d081884c7d65\n')
    await put(app, { local: everything(app, given).entry })
    const { id } = await createAgent(app)
    const [step] = await stepsOf(app, id, callLine('get-env', {}))
    vi.unstubAllEnvs()
    const seen = JSON.parse(String(step?.output))
    expect(seen).toMatchObject({ REGION: 'eu', API_TOKEN: '••••' })
    const inherited = Object.keys(getDefaultEnvironment())
    const marks = ['AGENTHOST_SERVICE', 'AGENTHOST_CONNECTION']
    const ofTheShell = ['PWD', 'OLDPWD', 'SHLVL', '_']
    const allowed = new Set([...inherited, ...Object.keys(given), ...marks, ...ofTheShell])
    expect(Object.keys(seen).filter((name) => !allowed.has(name))).toEqual([])
    expect(JSON.stringify(await readRun(app, 1))).not.toMatch(/9f86d081884c7d65|key-of-the-service/)
  })
})
