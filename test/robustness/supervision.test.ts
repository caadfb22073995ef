// Moments at which the supervision of tool servers is easily wrong: two things at once, one right after another, or
// something that comes too late.
import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { countChildren } from '../support/child-processes.ts'
import { freePort } from '../support/connection/everything-http.ts'
import { toolsOf } from '../support/environment-files.ts'
import { isAlive } from '../support/processes.ts'
import { openSupervisorHouse, type SupervisorHouse } from '../support/supervisor-house.ts'
import { toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

const SLOW_TO_LEAVE = fileURLToPath(new URL('../support/tool-server/slow-to-leave.ts', import.meta.url))
/** Starts, and says nothing. */
const SILENT = { command: '/bin/sleep', args: ['100'] }

const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)

/** A server with the tool `echo` that exits as long as the test wants; it notes every try. */
async function breakableServer(house: SupervisorHouse) {
  const server = await toolServer(house, 'one', 'echo')
  const [broken, tries] = [join(house.home, 'broken'), join(house.home, 'tries')]
  await writeFile(broken, '')
  const [program, folder] = server.entry.args
  const script = `
    fs.appendFileSync(${JSON.stringify(tries)}, 'x')
    if (fs.existsSync(${JSON.stringify(broken)})) process.exit(1)
    import(${JSON.stringify(program)})`
  return {
    entry: { command: process.execPath, args: ['-e', script, 'server', folder] },
    tries: () => (existsSync(tries) ? readFileSync(tries, 'utf8').length : 0),
    mend: () => rm(broken),
  }
}

describe('a server that was down at the start and is not tried any more', () => {
  test.for([
    ['names its tool', ['echo']],
    ['wants every tool', null],
  ] as const)('is tried again by the next run that %s', async ([, wanted]) => {
    // So little patience that it is over after the attempt that follows the first.
    await using house = await openSupervisorHouse({ timing: { first_ms: 1, longest_ms: 1, idle_ms: 1 } })
    const server = await breakableServer(house)
    await house.servers({ one: server.entry })
    expect(await house.supervisor.sync(house.environment, 'changed')).toMatchObject([{ server: 'one' }])
    await until(
      'nobody tries any more',
      async () => server.tries() > 1 && (await house.server('one'))?.status === 'down',
    )
    await server.mend()
    expect(names(await toolsOf(house).offer(wanted))).toEqual(['echo'])
  })
})

describe('a server that hangs', () => {
  test('does not hold up a run that names the tools of another', async () => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 60_000 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry, silent: { ...SILENT, connect_timeout_seconds: 600 } })
    expect(names(await toolsOf(house).offer(['echo']))).toEqual(['echo'])
    expect(await house.server('silent')).toMatchObject({ status: 'connecting' })
  })

  test('holds up a run that wants every tool for the time it has to connect, and no longer', async () => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 60_000 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry, silent: { ...SILENT, connect_timeout_seconds: 1 } })
    const { offer } = toolsOf(house)
    expect(names(await offer(null))).toEqual(['echo'])
    await until('it is down', async () => (await house.server('silent'))?.status === 'down')
    expect(names(await offer(null))).toEqual(['echo'])
    expect(await house.server('silent')).toMatchObject({ status: 'down' })
  })
})

describe('a server that needs a port for itself, and time to end', () => {
  async function slowToLeave(house: SupervisorHouse) {
    const server = await toolServer(house, 'one', 'echo')
    const port = String(await freePort())
    const args = [SLOW_TO_LEAVE, server.entry.args[1]]
    return { ...server, entry: (LABEL = '') => ({ command: process.execPath, args, env: { PORT: port, LABEL } }) }
  }

  test('is not started twice at once by a call right after an idle close', async () => {
    await using house = await openSupervisorHouse({ timing: { idle_ms: 100 } })
    const server = await slowToLeave(house)
    await house.servers({ one: server.entry() })
    await house.call('one', 'echo')
    const [first = 0] = server.starts()
    await until('it is idle', async () => (await house.server('one'))?.status === 'idle')
    expect(isAlive(first)).toBe(true)
    expect(await house.call('one', 'echo')).toMatchObject({ is_error: false })
    expect(isAlive(first)).toBe(false)
    expect(server.starts()).toHaveLength(2)
  })

  test.for(['changed', 'all'] as const)('is not started twice at once by a sync (%s) of a new file', async (which) => {
    await using house = await openSupervisorHouse()
    const server = await slowToLeave(house)
    await house.servers({ one: server.entry('old') })
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
    await house.servers({ one: server.entry('new') })
    expect(await house.supervisor.sync(house.environment, which)).toEqual([])
    expect(JSON.parse(String((await house.call('one', 'echo')).output)).label).toBe('new')
    expect(server.starts()).toHaveLength(2)
  })
})

test('a server that hangs while it connects makes way for the one that its new file describes', async () => {
  await using house = await openSupervisorHouse()
  const good = await toolServer(house, 'one', 'echo')
  const port = String(await freePort())
  const hold = `require('node:net').createServer().listen(${port}, '127.0.0.1', () => require('node:fs').writeFileSync('held', ''))`
  await house.servers({ one: { command: process.execPath, args: ['-e', hold], connect_timeout_seconds: 300 } })
  const older = house.supervisor.sync(house.environment, 'all')
  await until('it holds the port', () => existsSync(join(house.home, 'environments/default/held')))
  const [server, folder] = [SLOW_TO_LEAVE, good.entry.args[1]]
  await house.servers({ one: { command: process.execPath, args: [server, folder], env: { PORT: port } } })
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  expect(await older).toEqual([])
  expect(await house.call('one', 'echo')).toMatchObject({ is_error: false })
})

test('a sync lists more servers than may run at once, a few at a time', async () => {
  await using house = await openSupervisorHouse({ mostProcesses: 3 })
  const all = Array.from({ length: 8 }, (_, n) => `s${n}`)
  const entries = all.map(async (name) => [name, (await toolServer(house, name, `tool_${name}`)).entry])
  await house.servers(Object.fromEntries(await Promise.all(entries)))
  using children = countChildren()
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  expect(names(await house.store.tools.ofEnvironment(house.environment.id)).sort()).toEqual(
    all.map((name) => `tool_${name}`),
  )
  expect(children.most()).toBe(3)
})

describe('too late', () => {
  test('an older sync does not report a server that a newer one has replaced', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: { ...SILENT, connect_timeout_seconds: 2 } })
    const older = house.supervisor.sync(house.environment, 'all')
    await until('it connects', async () => (await house.server('one'))?.status === 'connecting')
    await house.servers({ one: server.entry })
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
    expect(await older).toEqual([])
  })

  test('a call after the end starts nothing', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.supervisor.stop()
    await expect(house.call('one', 'echo')).rejects.toMatchObject({ kind: 'unreachable' })
    expect(server.starts()).toEqual([])
  })

  test.for([
    ['retry', { retry: 'safe' }, { retry: 'never' }],
    ['retry, by leaving it out', { retry: 'safe' }, {}],
    ['trusted', { trusted: true }, {}],
  ] as const)('a promise (%s) taken back counts for runs that began before', async ([, given, later]) => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one')
    await server.offers({ name: 'echo', annotations: { readOnlyHint: true } })
    const { offer, bind } = toolsOf(house)
    const place = { environment: 'default', environment_id: house.environment.id }
    const repeats = async () => (await bind(offered, place)).map(({ repeat }) => repeat)
    await house.servers({ one: { ...server.entry, ...given } })
    const offered = await offer(null)
    expect(await repeats()).toEqual(['safe'])
    await house.servers({ one: { ...server.entry, ...later } })
    await house.supervisor.sync(house.environment, 'changed')
    expect(offered).toMatchObject([{ repeat: 'safe' }])
    expect(await repeats()).toEqual(['never'])
  })
})

test('a tool whose name is no valid text is left out, and the others stay', async () => {
  await using house = await openSupervisorHouse()
  const server = await toolServer(house, 'one', 'good', 'half\ud800', 'half\ud801')
  await house.servers({ one: server.entry })
  for (let time = 0; time < 2; time++) {
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
    expect(names(await house.store.tools.ofEnvironment(house.environment.id))).toEqual(['good'])
  }
  expect(await house.server('one')).toMatchObject({
    status: 'up',
    error: expect.stringMatching(/^2 tools were left out/),
  })
  expect(await house.call('one', 'good')).toMatchObject({ is_error: false })
})
