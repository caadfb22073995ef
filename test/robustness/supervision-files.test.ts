// Server files that are broken, half written or gone for a moment: nobody loses a server or a tool because of it.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createConnect } from '../../src/tools/connection/connect.ts'
import { serviceMark } from '../../src/tools/connection/stdio/orphans.ts'
import { createServerFiles } from '../../src/tools/servers/server-files.ts'
import { createSupervisor, type Supervisor } from '../../src/tools/supervisor/supervisor.ts'
import { knownTools, putFile, takeFolderAway, toolsOf } from '../support/environment-files.ts'
import { isAlive } from '../support/processes.ts'
import { openSupervisorHouse, type SupervisorHouse } from '../support/supervisor-house.ts'
import { serverFile, type ToolServer, toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

interface Settled {
  house: SupervisorHouse
  one: ToolServer
  before: { id: number; name: string }[]
}

/** A server `one` with the tools echo and look, synced. */
async function settle(house: SupervisorHouse): Promise<Settled> {
  const one = await toolServer(house, 'one', 'echo', 'look')
  await house.servers({ one: one.entry })
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  return { house, one, before: await knownTools(house) }
}

async function expectUnharmed({ house, before }: Settled): Promise<void> {
  expect(before).toHaveLength(2)
  expect(await knownTools(house)).toEqual(before)
  expect(await house.call('one', 'echo')).toMatchObject({ is_error: false })
  expect(await house.server('one')).toMatchObject({ tools_count: 2, error: null })
  expect((await toolsOf(house).offer(null)).map(({ name }) => name)).toEqual(['echo', 'look'])
}

/** Another life of the service over the same store. */
function startAgain({ home, store }: SupervisorHouse): Supervisor {
  const log = createLog('silent')
  return createSupervisor({
    ...{ store, log, clock: systemClock, connect: createConnect({ log, service: serviceMark(home) }) },
    readServers: createServerFiles({ root: join(home, 'environments'), variables: {}, builtIn: {} }).read,
  })
}

describe('what stays as it was', () => {
  test('the servers of a file with a syntax error, which the sync reports', async () => {
    await using house = await openSupervisorHouse()
    const settled = await settle(house)
    const underWay = house.call('one', 'echo', { ms: 500 })
    await putFile(house, 'servers.json', '{ "mcpServers": { "one": ')
    const [error, ...others] = await house.supervisor.sync(house.environment, 'all')
    expect(error).toMatchObject({ file: 'default/servers.json' })
    expect(others).toEqual([])
    expect(await underWay).toMatchObject({ is_error: false })
    await expectUnharmed(settled)
    await house.servers({ one: settled.one.entry })
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
    await expectUnharmed(settled)
  })

  test('a server whose variables cannot be read for a moment, which the sync reports', async () => {
    await using house = await openSupervisorHouse()
    const one = await toolServer(house, 'one', 'echo', 'look')
    await house.servers({ one: { ...one.entry, env: { LABEL: '${COLOUR}' } } })
    await putFile(house, 'variables.yml', 'COLOUR: green')
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
    const before = await knownTools(house)
    await putFile(house, 'variables.yml', 'COLOUR: [')
    expect(await house.supervisor.sync(house.environment, 'all')).not.toEqual([])
    await expectUnharmed({ house, one, before })
  })

  test('the servers of an environment whose folder is missing, which the sync reports', async () => {
    await using house = await openSupervisorHouse()
    const settled = await settle(house)
    const bringBack = await takeFolderAway(house)
    const errors = await house.supervisor.sync(house.environment, 'changed')
    expect(errors).toEqual([{ file: 'default', message: 'the folder is missing' }])
    await expectUnharmed(settled)
    await bringBack()
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
    await expectUnharmed(settled)
  })

  test('the tools of an environment whose folder is missing when the service starts', async () => {
    await using house = await openSupervisorHouse()
    const { before } = await settle(house)
    await house.supervisor.stop()
    const bringBack = await takeFolderAway(house)
    const again = startAgain(house)
    expect([...(await again.servers(house.environment)).keys()]).toEqual([])
    expect(await again.sync(house.environment, 'changed')).toEqual([
      { file: 'default', message: 'the folder is missing' },
    ])
    expect(await knownTools(house)).toEqual(before)
    await bringBack()
    expect([...(await again.servers(house.environment)).keys()]).toEqual(['one'])
    expect(await knownTools(house)).toEqual(before)
    await again.stop()
  })

  test('the tools of a file that is broken when the service starts', async () => {
    await using house = await openSupervisorHouse()
    const { before, one } = await settle(house)
    await house.supervisor.stop()
    await putFile(house, 'servers.json', '{ "mcpServers": ')
    const again = startAgain(house)
    expect(await again.sync(house.environment, 'changed')).toMatchObject([{ file: 'default/servers.json' }])
    expect(await knownTools(house)).toEqual(before)
    await house.servers({ one: one.entry })
    expect(await again.sync(house.environment, 'changed')).toEqual([])
    expect(await knownTools(house)).toEqual(before)
    await again.stop()
  })

  test.for([
    ['a wrong value', { command: 7 }],
    ['neither a command nor a url', { args: [] }],
    ['a timeout that is no number', { command: 'x', timeout_seconds: 'soon' }],
  ] as const)('a server whose entry has %s, which the sync reports', async ([, entry]) => {
    await using house = await openSupervisorHouse()
    const settled = await settle(house)
    await house.servers({ one: entry })
    expect(await house.supervisor.sync(house.environment, 'all')).toMatchObject([{ server: 'one' }])
    await expectUnharmed(settled)
  })
})

test('a broken file takes no server away, however often it is read after a restart, and the record says why', async () => {
  await using house = await openSupervisorHouse()
  const { before, one } = await settle(house)
  await putFile(house, 'servers.json', '{ "mcpServers": { "one": ')
  const again = startAgain(house)
  try {
    await again.servers(house.environment)
    for (const which of ['changed', 'all'] as const) await again.sync(house.environment, which)
    expect(await knownTools(house)).toEqual(before)
    expect(await house.server('one')).toMatchObject({ status: 'down', error: expect.stringContaining('its file') })
    await house.servers({ one: one.entry })
    expect(await again.sync(house.environment, 'all')).toEqual([])
    expect(await house.server('one')).toMatchObject({ status: 'up', error: null })
    expect(await knownTools(house)).toEqual(before)
  } finally {
    await again.stop()
  }
})

test('a name that a second file takes as well stays with the server that is in use', async () => {
  await using house = await openSupervisorHouse()
  const settled = await settle(house)
  await putFile(house, 'aaa.json', serverFile({ one: { command: 'another' } }))
  const [error] = await house.supervisor.sync(house.environment, 'all')
  expect(error).toMatchObject({ server: 'one', message: expect.stringContaining('default/servers.json') })
  await expectUnharmed(settled)
})

test('a server that was taken out of a good file goes, although another file is broken', async () => {
  await using house = await openSupervisorHouse()
  const settled = await settle(house)
  const two = await toolServer(house, 'two', 'other')
  await putFile(house, 'more.json', serverFile({ two: two.entry }))
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  expect(await knownTools(house)).toHaveLength(3)
  await putFile(house, 'more.json', serverFile({}))
  await putFile(house, 'servers.json', '{ "mcpServers": ')
  expect(await house.supervisor.sync(house.environment, 'all')).toMatchObject([{ file: 'default/servers.json' }])
  await expect(house.call('two', 'other')).rejects.toThrow("has no server 'two'")
  expect(await house.server('two')).toBeUndefined()
  await until('its process is gone', () => !two.starts().some(isAlive))
  await expectUnharmed(settled)
})

test('servers go when their folder is there and empty', async () => {
  await using house = await openSupervisorHouse()
  await settle(house)
  const folder = join(house.home, 'environments/default')
  await rm(folder, { recursive: true })
  await mkdir(folder)
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  expect(await knownTools(house)).toEqual([])
})

test('a text that becomes a secret is masked from the next sync on', async () => {
  await using house = await openSupervisorHouse()
  const server = await toolServer(house, 'one', 'echo')
  const label = async () => JSON.parse(String((await house.call('one', 'echo')).output)).label
  await house.servers({ one: { ...server.entry, env: { LABEL: 'hunter2-hunter2' } } })
  await house.supervisor.sync(house.environment, 'all')
  expect(await label()).toBe('hunter2-hunter2')
  await putFile(house, 'variables.yml', 'PASS: hunter2-hunter2\n')
  await house.servers({ one: { ...server.entry, env: { LABEL: '${PASS}' } } })
  expect(await house.supervisor.sync(house.environment, 'changed')).toEqual([])
  expect(await label()).toBe('••••')
})
