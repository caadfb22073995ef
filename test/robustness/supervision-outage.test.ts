// Tool servers while the database cannot be written: whoever needs no database goes on, and what is known now is written
// down later.
import { describe, expect, test } from 'vitest'
import { isAlive } from '../support/processes.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { openSupervisorHouse, type SupervisorHouse } from '../support/supervisor-house.ts'
import { toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

const toolNames = async ({ store, environment }: SupervisorHouse) =>
  (await store.tools.ofEnvironment(environment.id)).map(({ name }) => name)

const writable = ({ store }: SupervisorHouse) =>
  until('the database can be written', () =>
    store.write('ping', null).then(
      () => true,
      () => false,
    ),
  )

describe.concurrent('while the database cannot be written', () => {
  test('first readings that fail at the same time spoil nothing for later', async ({ expect }) => {
    await using house = await openSupervisorHouse()
    const { supervisor, environment } = house
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    const held = holdDatabase(house)
    const during = [supervisor.servers(environment), supervisor.sync(environment, 'changed')]
    const outcomes = await Promise.allSettled(during)
    held.close()
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await writable(house)
    expect([...(await supervisor.servers(environment)).keys()]).toEqual(['one'])
    expect(await supervisor.sync(environment, 'all')).toEqual([])
    expect(await house.call('one', 'echo')).toMatchObject({ is_error: false })
    expect(await toolNames(house)).toEqual(['echo'])
  })

  test('a server that connects serves its calls, and is written down afterwards', async ({ expect }) => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 10, longest_ms: 10, list_again_ms: 100 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.supervisor.sync(house.environment, 'all')
    const held = holdDatabase(house)
    await server.offers('echo', 'fresh')
    const [first = 0] = server.starts()
    process.kill(first, 'SIGKILL')
    await until('its first process is gone', () => !isAlive(first))
    const answer = await until('a call is answered', () => house.call('one', 'echo').catch(() => undefined))
    expect(answer).toMatchObject({ is_error: false })
    expect(await house.call('one', 'echo')).toMatchObject({ is_error: false })
    expect(server.starts()).toHaveLength(2)
    expect(await toolNames(house)).toEqual(['echo'])
    held.close()
    await until('its tools are known', async () => (await toolNames(house)).join() === 'echo,fresh')
    await until('its status is known', async () => (await house.server('one'))?.status === 'up')
    expect(await house.server('one')).toMatchObject({ error: null, tools_count: 2 })
    expect(server.starts()).toHaveLength(2)
  })

  test('a call to a running server does not wait for a sync that waits', async ({ expect }) => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.supervisor.sync(house.environment, 'all')
    const held = holdDatabase(house)
    const order: string[] = []
    const syncs = Array.from({ length: 3 }, () =>
      house.supervisor.sync(house.environment, 'all').catch(() => void order.push('sync')),
    )
    await house.call('one', 'echo')
    order.push('call')
    await Promise.all(syncs)
    held.close()
    expect(order).toEqual(['call', 'sync', 'sync', 'sync'])
    await writable(house)
    expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  })
})

test('a sync that failed leaves servers and their processes as they were', async () => {
  await using house = await openSupervisorHouse()
  const server = await toolServer(house, 'one', 'echo')
  await house.servers({ one: server.entry })
  await house.supervisor.sync(house.environment, 'all')
  await house.servers({})
  const held = holdDatabase(house)
  await expect(house.supervisor.sync(house.environment, 'all')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  held.close()
  expect(await house.call('one', 'echo')).toMatchObject({ is_error: false })
  expect(server.starts().filter(isAlive)).toHaveLength(1)
  await writable(house)
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  await expect(house.call('one', 'echo')).rejects.toThrow("has no server 'one'")
  await until('its process is gone', () => !server.starts().some(isAlive))
})
