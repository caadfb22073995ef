// MCP servers: what the files of an environment say about them, and how they do.
import { expect, test } from 'vitest'
import { mcpServer, type ServerStatus } from '../../src/contract/mcp-server.ts'
import type { Store } from '../../src/store/store.ts'
import { AT, createEnvironment } from './sample.ts'
import { countsOf, everyServer, idsByName, list, namesOf, server, sync } from './sample-tools.ts'
import type { OpenStore } from './suite.ts'

interface Report {
  error?: string | null
  config_hash?: string
  at?: number
}

const report = (store: Store, environment_id: number, name: string, status: ServerStatus, more: Report = {}) =>
  store.write('reportServer', { environment_id, name, config_hash: `${name}-1`, status, error: null, at: AT, ...more })

const healthOf = async (store: Store) =>
  (await everyServer(store)).map(({ name, status, error }) => [name, status, error])

export function serverFacts(open: OpenStore): void {
  test('a server is read as the contract says, field by field', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'prod')
    const remote = server('remote', { transport: 'http', shown: { url: 'https://example.com/mcp?key=••••' } })
    const stored = await sync(store, id, [server('files'), remote])
    const fresh = { listed_hash: null, status: 'idle', tools_count: 0 }
    expect(stored).toEqual([
      { id: expect.any(Number), name: 'files', config_hash: 'files-1', ...fresh },
      { id: expect.any(Number), name: 'remote', config_hash: 'remote-1', ...fresh },
    ])
    expect(await store.servers.ofEnvironment(id)).toEqual(stored)
    await report(store, id, 'remote', 'up', { at: AT + 5 })
    await list(store, id, 'remote', ['a', 'b'], { complaint: 'one was left out' })
    const servers = await everyServer(store)
    const common = { environment: 'prod', status: 'idle', error: null, tools_count: 0, last_connected_at: null }
    expect(servers).toEqual([
      { ...common, id: stored[0]?.id, name: 'files', transport: 'stdio', command: 'node', args: ['files.js'] },
      {
        ...{ ...common, id: stored[1]?.id, name: 'remote', transport: 'http', url: 'https://example.com/mcp?key=••••' },
        ...{ status: 'up', error: 'one was left out', tools_count: 2 },
        last_connected_at: new Date(AT + 5).toISOString(),
      },
    ])
    expect(servers.map((one) => mcpServer.parse(one))).toEqual(servers)
    expect(await opened.reopen().then(everyServer)).toEqual(servers)
  })

  test('a list has the servers of one environment or of all, by id, in pages with their total', async () => {
    await using opened = await open()
    const { store } = opened
    const [one, two] = [await createEnvironment(store, 'one'), await createEnvironment(store, 'two')]
    await sync(
      store,
      one,
      ['z', 'y', 'x'].map((name) => server(name)),
    )
    await sync(
      store,
      two,
      ['z', 'a'].map((name) => server(name)),
    )
    const names = async (environment?: string) =>
      (await everyServer(store, environment)).map((found) => `${found.environment}/${found.name}`)
    expect(await names()).toEqual(['one/z', 'one/y', 'one/x', 'two/z', 'two/a'])
    expect(await names('two')).toEqual(['two/z', 'two/a'])
    expect(await names('none')).toEqual([])
    const { items, total } = await store.servers.list({ environment: 'one' }, { page: 2, limit: 2 })
    expect([items.map(({ name }) => name), total]).toEqual([['x'], 3])
    expect(await store.servers.list({}, { page: 9, limit: 2 })).toEqual({ items: [], total: 5 })
  })

  test('a known server keeps its id, its tools and its last connection, whatever its configuration becomes', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'default')
    const [before] = await sync(store, id, [server('files')])
    await report(store, id, 'files', 'up')
    await list(store, id, 'files', ['read'])
    const tools = await store.tools.ofEnvironment(id)
    const moved = server('files', { transport: 'http', shown: { url: 'http://localhost/' }, config_hash: 'files-2' })
    expect(await sync(store, id, [moved])).toEqual([
      { ...before, config_hash: 'files-2', listed_hash: 'files-1', tools_count: 1 },
    ])
    expect(await store.tools.ofEnvironment(id)).toEqual(tools)
    const [after] = await everyServer(store)
    expect(after).toMatchObject({ transport: 'http', url: 'http://localhost/', status: 'idle', error: null })
    expect(after).not.toHaveProperty('command')
    expect(after?.last_connected_at).toBe(new Date(AT).toISOString())
  })

  test('a sync leaves how a server does alone, unless its configuration changed or cannot be used', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'default')
    const names = ['same', 'other', 'broken', 'down', 'told']
    await sync(
      store,
      id,
      names.map((name) => server(name)),
    )
    for (const name of names) await report(store, id, name, 'up', { error: 'slow' })
    await sync(store, id, [
      server('same', { shown: { command: 'node', args: ['--shown-in-another-way'] } }),
      server('other', { config_hash: 'other-2' }),
      server('broken', { status: 'down', error: 'TOKEN is missing' }),
      server('down', { status: 'down' }),
      server('told', { error: 'a field is unknown' }),
    ])
    expect(await healthOf(store)).toEqual([
      ['same', 'up', 'slow'],
      ['other', 'idle', null],
      ['broken', 'down', 'TOKEN is missing'],
      ['down', 'down', null],
      ['told', 'idle', 'a field is unknown'],
    ])
    expect((await everyServer(store))[0]?.args).toEqual(['--shown-in-another-way'])
  })

  test('a server that is not to be used loses its tools and is quiet, and has to be asked again afterwards', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'default')
    const [before] = await sync(store, id, [server('files'), server('web')])
    await list(store, id, 'files', ['read', 'write'])
    await list(store, id, 'web', ['read'])
    await report(store, id, 'files', 'down', { error: 'it is not there' })
    expect(await namesOf(store, id)).toEqual(['files__read', 'web__read', 'write'])
    const stored = await sync(store, id, [server('files', { keeps_tools: false }), server('web')])
    expect(stored[0]).toEqual({ ...before, listed_hash: null, status: 'idle', tools_count: 0 })
    expect(await namesOf(store, id)).toEqual(['read'])
    expect(await countsOf(store, id)).toEqual({ servers: 2, tools: 1 })
    expect(await healthOf(store)).toContainEqual(['files', 'idle', null])
  })

  test('servers that the files no longer have go with their tools, and take nothing of other environments', async () => {
    await using opened = await open()
    const { store } = opened
    const [one, two] = [await createEnvironment(store, 'one'), await createEnvironment(store, 'two')]
    for (const id of [one, two]) {
      await sync(store, id, [server('a'), server('b')])
      await list(store, id, 'a', ['x'])
      await list(store, id, 'b', ['x', 'y'])
    }
    const kept = await idsByName(store, one)
    const elsewhere = await idsByName(store, two)
    await sync(store, one, [server('b'), server('c')])
    expect((await everyServer(store, 'one')).map(({ name }) => name)).toEqual(['b', 'c'])
    // Nobody else has an x any more.
    expect(await idsByName(store, one)).toEqual({ x: kept.b__x, y: kept.y })
    expect(await countsOf(store, one)).toEqual({ servers: 2, tools: 2 })
    expect(await idsByName(store, two)).toEqual(elsewhere)
    expect(await sync(store, one, [])).toEqual([])
    expect([await countsOf(store, one), await countsOf(store, two)]).toEqual([
      { servers: 0, tools: 0 },
      { servers: 2, tools: 3 },
    ])
  })

  test('a report about another configuration, server or environment changes nothing', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'default')
    await sync(store, id, [server('files')])
    const before = await everyServer(store)
    await report(store, id, 'files', 'up', { config_hash: 'files-0' })
    await report(store, id, 'web', 'up')
    await report(store, 999_999, 'files', 'up')
    expect(await everyServer(store)).toEqual(before)
  })

  test('only a server that is up was connected', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'default')
    await sync(store, id, [server('files')])
    const seen: unknown[] = []
    for (const [later, status] of (['connecting', 'up', 'idle', 'connecting', 'down'] as const).entries()) {
      await report(store, id, 'files', status, { at: AT + later, error: status === 'down' ? 'gone' : null })
      const [found] = await everyServer(store)
      seen.push([found?.status, found?.error, found?.last_connected_at && Date.parse(found.last_connected_at) - AT])
    }
    expect(seen).toEqual([
      ['connecting', null, null],
      ['up', null, 1],
      ['idle', null, 1],
      ['connecting', null, 1],
      ['down', 'gone', 1],
    ])
  })

  test('a process that starts is connected to nobody, and has not heard of any failure', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await createEnvironment(store, 'default')
    const statuses = ['idle', 'connecting', 'up', 'down'] as const
    await sync(
      store,
      id,
      statuses.map((name) => server(name)),
    )
    for (const status of statuses) await report(store, id, status, status)
    expect(await store.load()).toMatchObject({ servers_up: 1, servers_down: 1 })
    await store.write('quietServers', null)
    expect((await everyServer(store)).map(({ status }) => status)).toEqual(['idle', 'idle', 'idle', 'idle'])
    expect(await store.load()).toMatchObject({ servers_up: 0, servers_down: 0 })
  })

  test('servers of a file that cannot be understood stay: in use as they are, else down with the reason', async () => {
    await using opened = await open()
    const { store } = opened
    const environment_id = await createEnvironment(store, 'default')
    await sync(
      store,
      environment_id,
      ['used', 'broken', 'named', 'gone'].map((name) => server(name)),
    )
    await list(store, environment_id, 'broken', ['a'])
    const stays = { files: ['env/used.json', 'env/broken.json'], names: ['named'], in_use: ['used'] }
    await store.write('syncServers', { environment_id, servers: [], stays })
    expect(await everyServer(store)).toMatchObject([
      { name: 'used', status: 'idle', error: null },
      { name: 'broken', status: 'down', error: expect.stringContaining('its file'), tools_count: 1 },
      { name: 'named', status: 'down' },
    ])
    await store.write('syncServers', { environment_id, servers: [], stays: { ...stays, files: 'all' } })
    expect(await everyServer(store)).toHaveLength(3)
    await store.write('syncServers', { environment_id, servers: [] })
    expect(await everyServer(store)).toEqual([])
  })
}
