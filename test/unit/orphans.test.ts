// What a killed service leaves running is ended by the next one of the same home, and nothing else is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { reapOrphans, serviceMark } from '../../src/tools/connection/stdio/orphans.ts'
import { isAlive, processesWith } from '../support/connection/processes.ts'
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
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { env, stdio: 'ignore' })
    const exited = once(child, 'exit')
    await once(child, 'spawn')
    await until('its environment is there', () => processesWith(stale).length > 0)
    expect(await reapOrphans({ home: home.path, log })).toBe(1)
    expect(await exited).toEqual([null, 'SIGKILL'])
  })
})

test('the mark names the home wherever it is seen from, and the process', async () => {
  await using home = await temporaryFolder()
  expect(serviceMark(`${home.path}/../${home.path.split('/').at(-1)}`)).toBe(serviceMark(home.path))
  expect(serviceMark(home.path)).toMatch(new RegExp(`^[0-9a-f]{16}\\.${process.pid}\\.\\d+$`))
})
