// What a killed service leaves running is ended by the next one of the same home, and nothing else is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { reapOrphans, serviceMark } from '../../src/tools/connection/stdio/orphans.ts'
import { signal } from '../../src/tools/connection/stdio/process-marks.ts'
import { makeHome } from '../support/home.ts'
import { isAlive, processesWith } from '../support/processes.ts'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })
const OWNER = fileURLToPath(new URL('../support/connection/owner.ts', import.meta.url))

/** A service of this home with one server that ends for nobody. */
async function startOwner(home: string) {
  const child = spawn(process.execPath, [OWNER, home], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { kill, servers: () => processesWith(`MARK=${home}\0`), [Symbol.asyncDispose]: kill }
}

/** More than any process has as its number. */
const DEAD = 2 ** 30

const deadMark = (home: string) => serviceMark(home).replace(/\d+\.\d+$/, `${DEAD}.1`)

/** A process in a group of its own that has nothing to do with a service but for this mark. */
async function startMarked(mark: string) {
  const child = spawn('sleep', ['600'], {
    env: { PATH: process.env.PATH, AGENTHOST_SERVICE: mark },
    detached: true,
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await once(child, 'spawn')
  const pid = child.pid as number
  await until('its environment is there', () => processesWith(`AGENTHOST_SERVICE=${mark}\0`).includes(pid))
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { pid, ended, [Symbol.asyncDispose]: end }
}

describe.runIf(process.platform === 'linux')('reaping', () => {
  test('ends the servers of a killed service with all that they have started', async () => {
    await using home = await temporaryFolder()
    await using owner = await startOwner(home.path)
    const servers = owner.servers()
    expect(servers).toHaveLength(2)
    await owner.kill()
    expect(servers.every(isAlive)).toBe(true)
    expect(await reapOrphans({ home: home.path, log })).toBe(2)
    await until('they are gone', () => !servers.some(isAlive))
    expect(await reapOrphans({ home: home.path, log })).toBe(0)
  })

  test('leaves a living service and another home alone', async () => {
    await using home = await temporaryFolder()
    await using other = await temporaryFolder()
    await using living = await startOwner(home.path)
    await using killed = await startOwner(other.path)
    await killed.kill()
    expect(await reapOrphans({ home: home.path, log })).toBe(0)
    const servers = [...living.servers(), ...killed.servers()]
    expect(servers).toHaveLength(4)
    expect(servers.every(isAlive)).toBe(true)
    await living.kill()
    expect(await reapOrphans({ home: home.path, log })).toBe(2)
    expect(await reapOrphans({ home: other.path, log })).toBe(2)
    await until('they are gone', () => !servers.some(isAlive))
  })

  test('takes a process that only has the number of the service for no service', async () => {
    await using home = await temporaryFolder()
    const stale = serviceMark(home.path).replace(/\d+$/, '1')
    const env = { AGENTHOST_SERVICE: stale }
    const options = { env, stdio: 'ignore', detached: true } as const
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], options)
    const exited = once(child, 'exit')
    await once(child, 'spawn')
    await until('its environment is there', () => processesWith(stale).length > 0)
    expect(await reapOrphans({ home: home.path, log })).toBe(1)
    expect(await exited).toEqual([null, 'SIGKILL'])
  })

  test('tells the log which processes it has ended', async () => {
    await using home = await temporaryFolder()
    await using orphan = await startMarked(deadMark(home.path))
    const lines: string[] = []
    await reapOrphans({ home: home.path, log: pino({ level: 'warn' }, { write: (line) => lines.push(line) }) })
    await orphan.ended
    expect(lines.map((line) => JSON.parse(line).pids)).toEqual([[orphan.pid]])
  })

  test('leaves marks alone that no service has written', async () => {
    await using home = await temporaryFolder()
    const [id = ''] = serviceMark(home.path).split('.')
    const marks = ['', id, `${id}.`, `${id}.x.y`, `${id}.-1.1`, `${id}.0.1`, `${id}.1/../self.1`, `${id}.${DEAD}.1.1`]
    const bystanders = await Promise.all(marks.map(startMarked))
    try {
      expect(await reapOrphans({ home: home.path, log })).toBe(0)
      expect(bystanders.map(({ pid }) => isAlive(pid))).toEqual(marks.map(() => true))
    } finally {
      for (const bystander of bystanders) await bystander[Symbol.asyncDispose]()
    }
  })

  test('lets a service live that inherits the mark of a dead one, and the shell that starts it', async () => {
    await using home = await makeHome()
    const mark = deadMark(home.home)
    await using orphan = await startMarked(mark)
    const wrap = ['setsid', 'sh', '-c', '"$@"; true', 'sh']
    const shell = await startService({ home: home.home, env: { AGENTHOST_SERVICE: mark }, wrap })
    try {
      await orphan.ended
      expect(shell.stderr()).toContain(`"pids":[${orphan.pid}]`)
      expect((await fetch(`${shell.api}/api/v1/health`)).status).toBe(200)
      const [service] = processesWith(`AGENTHOST_SERVICE=${mark}\0`).filter((pid) => pid !== shell.pid)
      process.kill(service as number, 'SIGTERM')
      expect(await shell.ended).toEqual({ code: 0, signal: null })
    } finally {
      signal(-shell.pid, 'SIGKILL')
    }
  })
})

test('the mark names the home wherever it is seen from, and the process', async () => {
  await using home = await temporaryFolder()
  expect(serviceMark(`${home.path}/../${home.path.split('/').at(-1)}`)).toBe(serviceMark(home.path))
  expect(serviceMark(home.path)).toMatch(new RegExp(`^[0-9a-f]{16}\\.${process.pid}\\.\\d+$`))
})
