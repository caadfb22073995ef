// How tool servers are connected, shared, restarted and let go of. Real processes, really killed.
import { describe, expect } from 'vitest'
import { isAlive } from '../support/processes.ts'
import { openSupervisorHouse } from '../support/supervisor-house.ts'
import { toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'
import { proves } from './proves.ts'

const said = ({ output }: { output: unknown }) => JSON.parse(String(output))

describe('one connection for all', () => {
  proves(
    'tools.shared-connection',
    'twenty first calls at once start one process, and each gets its own answer',
    async () => {
      await using house = await openSupervisorHouse()
      const server = await toolServer(house, 'one', 'echo')
      await house.servers({ one: server.entry })
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => house.call('one', 'echo', { n })))
      expect(answers.map((answer) => said(answer).input.n)).toEqual(Array.from({ length: 20 }, (_, n) => n))
      expect(server.starts()).toHaveLength(1)
    },
  )

  proves('tools.shared-connection', 'a server whose file has changed gets a connection of its own', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: { ...server.entry, env: { LABEL: 'first' } } })
    expect(said(await house.call('one', 'echo')).label).toBe('first')
    await house.servers({ one: { ...server.entry, env: { LABEL: 'second' } } })
    await house.supervisor.sync(house.environment, 'changed')
    expect(said(await house.call('one', 'echo')).label).toBe('second')
    const [first = 0] = server.starts()
    await until('the old process is gone', () => !isAlive(first))
  })
})

describe('when servers are connected', () => {
  proves('tools.connect', 'a sync and a first use connect; a check of the files and the lists do not', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    expect(await house.supervisor.check('default')).toEqual([])
    await house.supervisor.servers(house.environment)
    expect(server.starts()).toEqual([])
    expect(await house.server('one')).toMatchObject({ status: 'idle', tools_count: 0 })
    await house.supervisor.sync(house.environment, 'changed')
    expect(server.starts()).toHaveLength(1)
    expect(await house.server('one')).toMatchObject({ status: 'up', tools_count: 1 })
  })

  proves('tools.connect', 'a first use connects without any sync', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.call('one', 'echo')
    expect(server.starts()).toHaveLength(1)
  })
})

describe('a server that dies', () => {
  proves('tools.back-off', 'it is down at once, then started again by itself, later each time', async () => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 100, longest_ms: 400 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.call('one', 'echo')
    await expect(house.call('one', 'echo', { exit: 3 })).rejects.toMatchObject({ kind: 'lost' })
    await until('the record says so', async () => (await house.server('one'))?.status === 'down')
    expect((await house.server('one'))?.error).toContain('code 3')
    await until('it is up again', async () => (await house.server('one'))?.status === 'up')
    expect(server.starts()).toHaveLength(2)
    expect(said(await house.call('one', 'echo')).pid).toBe(server.starts()[1])
  })

  proves('tools.back-off', 'while the next start is far off, calls fail at once and say when it is', async () => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 600_000, longest_ms: 600_000 } })
    await house.servers({ one: { command: process.execPath, args: ['-e', 'process.exit(1)'] } })
    await expect(house.call('one', 'echo')).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(house.call('one', 'echo')).rejects.toThrow(/tried again in \d+ s: .*code 1/)
  })

  proves('tools.last-good-list', 'its tools stay listed while it is down', async () => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 600_000, longest_ms: 600_000 } })
    const server = await toolServer(house, 'one', 'echo', 'look')
    await house.servers({ one: server.entry })
    await house.supervisor.sync(house.environment, 'all')
    await house.call('one', 'echo', { exit: 1 }).catch(() => undefined)
    await until('it is down', async () => (await house.server('one'))?.status === 'down')
    expect((await house.store.tools.ofEnvironment(house.environment.id)).map(({ name }) => name)).toEqual([
      'echo',
      'look',
    ])
    expect(await house.server('one')).toMatchObject({ tools_count: 2 })
  })
})

describe('a sync', () => {
  proves('tools.back-off', 'forgives a server its failures: the next one counts as the first', async () => {
    await using house = await openSupervisorHouse({ timing: { first_ms: 100_000, longest_ms: 10_000_000 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    for (let crash = 0; crash < 3; crash++) {
      expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
      await house.call('one', 'echo', { exit: 1 }).catch(() => undefined)
    }
    const { message } = await house.call('one', 'echo').catch((error) => error)
    expect(Number(/tried again in (\d+) s/.exec(message)?.[1])).toBeLessThanOrEqual(100)
  })
})

describe('a server that nobody uses', () => {
  proves(
    'tools.idle-close',
    'its whole process group goes after a while, and the next call starts it again',
    async () => {
      await using house = await openSupervisorHouse({ timing: { idle_ms: 200 } })
      const server = await toolServer(house, 'one', 'echo')
      await house.servers({ one: server.entry })
      await house.call('one', 'echo')
      await until('it is idle', async () => (await house.server('one'))?.status === 'idle')
      const [first = 0] = server.starts()
      await until('its process is gone', () => !isAlive(first))
      expect(said(await house.call('one', 'echo')).pid).not.toBe(first)
    },
  )

  proves('tools.idle-close', 'a call that takes longer than the idle time is not cut off', async () => {
    await using house = await openSupervisorHouse({ timing: { idle_ms: 50 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    expect(said(await house.call('one', 'echo', { ms: 400 })).input.ms).toBe(400)
    expect(server.starts()).toHaveLength(1)
  })
})

describe('the list of tools', () => {
  proves('tools.last-good-list', 'it follows the server when that says that its tools have changed', async () => {
    await using house = await openSupervisorHouse({ timing: { list_pause_ms: 10 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.call('one', 'echo')
    await server.offers('echo', 'fresh')
    await house.call('one', 'echo', { changed: true })
    await until('the new tool is known', async () => {
      const tools = await house.store.tools.ofEnvironment(house.environment.id)
      return tools.some(({ name }) => name === 'fresh')
    })
  })

  proves('tools.last-good-list', 'it is read again when it has grown old', async () => {
    await using house = await openSupervisorHouse({ timing: { list_age_ms: 0, list_pause_ms: 10 } })
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: server.entry })
    await house.call('one', 'echo')
    await server.offers('fresh')
    await house.call('one', 'echo')
    await until('the new tool is known', async () => {
      const tools = await house.store.tools.ofEnvironment(house.environment.id)
      return tools.map(({ name }) => name).join() === 'fresh'
    })
  })
})

describe('too many processes', () => {
  proves('tools.idle-close', 'the one that was not used for longest makes room for the next', async () => {
    await using house = await openSupervisorHouse({ mostProcesses: 2 })
    const servers = await Promise.all(['a', 'b', 'c'].map((name) => toolServer(house, name, `tool_${name}`)))
    await house.servers(Object.fromEntries(['a', 'b', 'c'].map((name, n) => [name, servers[n]?.entry ?? {}])))
    for (const name of ['a', 'b', 'a', 'c']) await house.call(name, `tool_${name}`)
    const [a = 0, b = 0, c = 0] = servers.map((server) => server.starts()[0])
    await until('b is gone', () => !isAlive(b))
    expect([isAlive(a), isAlive(c)]).toEqual([true, true])
    expect(await house.server('b')).toMatchObject({ status: 'idle', tools_count: 1 })
  })

  proves('tools.idle-close', 'when all are at work, one more is refused with the reason', async () => {
    await using house = await openSupervisorHouse({ mostProcesses: 1 })
    const [one, two] = [await toolServer(house, 'one', 'x'), await toolServer(house, 'two', 'y')]
    await house.servers({ one: one.entry, two: { ...two.entry, connect_timeout_seconds: 1 } })
    await house.call('one', 'x')
    const working = house.call('one', 'x', { ms: 3000 })
    await expect(house.call('two', 'y')).rejects.toThrow('too many tool servers are running')
    await working
    expect(two.starts()).toEqual([])
  })
})

describe('changes while calls are under way', () => {
  proves('tools.shared-connection', 'a call under way ends on the connection it began with', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    await house.servers({ one: { ...server.entry, env: { LABEL: 'first' } } })
    await house.call('one', 'echo')
    const underWay = house.call('one', 'echo', { ms: 800 })
    await house.servers({ one: { ...server.entry, env: { LABEL: 'second' } } })
    await house.supervisor.sync(house.environment, 'all')
    expect(said(await house.call('one', 'echo')).label).toBe('second')
    expect(said(await underWay).label).toBe('first')
    const [first = 0] = server.starts()
    await until('the old process is gone', () => !isAlive(first))
  })

  proves('tools.shared-connection', 'syncs at the same time leave one process', async () => {
    await using house = await openSupervisorHouse()
    const server = await toolServer(house, 'one', 'echo')
    for (const label of ['a', 'b', 'c']) {
      await house.servers({ one: { ...server.entry, env: { LABEL: label } } })
      await Promise.all(Array.from({ length: 10 }, () => house.supervisor.sync(house.environment, 'all')))
      expect(said(await house.call('one', 'echo')).label).toBe(label)
    }
    await until('one process is left', () => server.starts().filter(isAlive).length === 1)
  })
})
