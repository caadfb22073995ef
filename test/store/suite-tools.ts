// Tools: a server's list becomes what it said last, names follow from all of the environment, ids stay.
import { expect, test } from 'vitest'
import { toolRecord } from '../../src/contract/tool-record.ts'
import type { Store } from '../../src/store/store.ts'
import type { ToolFilter } from '../../src/store/tools/tools.ts'
import { createEnvironment, everyPage } from './sample.ts'
import { countsOf, everyServer, idsByName, list, namesOf, server, sync, tool } from './sample-tools.ts'
import type { OpenStore } from './suite.ts'

async function withServers(store: Store, names: string[], environment = 'default'): Promise<number> {
  const id = await createEnvironment(store, environment)
  await sync(
    store,
    id,
    names.map((name) => server(name)),
  )
  return id
}

const everyTool = (store: Store, filter: ToolFilter = {}, limit = 100) =>
  everyPage((page) => store.tools.list(filter, page), limit)

const fullNames = async (store: Store, filter: ToolFilter) =>
  (await everyTool(store, filter)).map(({ environment, name }) => `${environment}/${name}`)

export function toolFacts(open: OpenStore): void {
  test('a tool is read as the contract says, field by field', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files', 'web'], 'prod')
    const schema = { type: 'object', properties: { path: { type: 'string' }, 'a\nb': {}, ['__proto__']: { x: 1 } } }
    const annotations = { readOnlyHint: true }
    const read = tool('read', { input_schema: JSON.stringify(schema), annotations: JSON.stringify(annotations) })
    await list(store, id, 'files', [read])
    await list(store, id, 'web', ['read'])
    const [first, second] = await everyTool(store)
    expect(first).toEqual({
      ...{ id: expect.any(Number), name: 'files__read', server: 'files', environment: 'prod' },
      ...{ description: 'Does read', annotations },
      input_schema: expect.any(Object),
    })
    expect(JSON.stringify(first?.input_schema)).toBe(JSON.stringify(schema))
    expect([first, second].map((one) => toolRecord.parse(one).name)).toEqual(['files__read', 'web__read'])
    const found = await store.tools.find(Number(second?.id))
    expect(found).toEqual({ ...second, own_name: 'read' })
    expect(await store.tools.find(999_999)).toBeUndefined()
    expect(await store.tools.ofEnvironment(id)).toEqual([{ ...first, own_name: 'read' }, found])
  })

  test('a list kept is the same list after a reopening, and names which configuration it came from', async () => {
    await using opened = await open()
    const id = await withServers(opened.store, ['files'])
    await list(opened.store, id, 'files', ['read', 'write'])
    const before = await opened.store.tools.ofEnvironment(id)
    const store = await opened.reopen()
    expect(await store.tools.ofEnvironment(id)).toEqual(before)
    expect(await store.servers.ofEnvironment(id)).toMatchObject([{ listed_hash: 'files-1', tools_count: 2 }])
  })

  test('what a server goes on to list stays the same tool, with what it says of it now', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files'])
    await list(store, id, 'files', ['a', 'b', 'c'])
    const before = await idsByName(store, id)
    const changed = {
      description: 'New',
      input_schema: '{"type":"object","required":[]}',
      annotations: '{"title":"B"}',
    }
    await list(store, id, 'files', ['d', tool('b', changed), 'a'])
    const after = await idsByName(store, id)
    expect(after).toEqual({ a: before.a, b: before.b, d: expect.any(Number) })
    expect(Object.values(before)).not.toContain(after.d)
    expect(await store.tools.find(Number(before.b))).toMatchObject({
      ...{ description: 'New', input_schema: { required: [] }, annotations: { title: 'B' } },
    })
    expect(await countsOf(store, id)).toEqual({ servers: 1, tools: 3 })
    await list(store, id, 'files', [])
    expect([await namesOf(store, id), await countsOf(store, id)]).toEqual([[], { servers: 1, tools: 0 }])
  })

  test('of two tools with the same name of their own the first counts', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files'])
    const twice = [tool('a', { description: 'first' }), tool('a', { description: 'second' }), tool('b')]
    for (const _time of ['new', 'known']) {
      await list(store, id, 'files', twice)
      const stored = await store.tools.ofEnvironment(id)
      expect(stored.map(({ name, description }) => [name, description])).toEqual([
        ['a', 'first'],
        ['b', 'Does b'],
      ])
      expect(await store.servers.ofEnvironment(id)).toMatchObject([{ tools_count: 2 }])
    }
  })

  test('a list that came with another configuration, or from nobody known, is not taken', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files'])
    await list(store, id, 'files', ['a'])
    await list(store, id, 'files', ['b'], { config_hash: 'files-0', complaint: 'late' })
    await list(store, id, 'gone', ['c'])
    await list(store, 999_999, 'files', ['d'])
    expect(await namesOf(store, id)).toEqual(['a'])
    expect((await everyServer(store))[0]?.error).toBeNull()
  })

  test('the same list under a new configuration counts as listed under that one', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files'])
    await list(store, id, 'files', ['a'])
    await sync(store, id, [server('files', { config_hash: 'files-2' })])
    expect(await store.servers.ofEnvironment(id)).toMatchObject([{ config_hash: 'files-2', listed_hash: 'files-1' }])
    const before = await store.tools.ofEnvironment(id)
    await list(store, id, 'files', ['a'], { config_hash: 'files-2' })
    expect(await store.servers.ofEnvironment(id)).toMatchObject([{ config_hash: 'files-2', listed_hash: 'files-2' }])
    expect(await store.tools.ofEnvironment(id)).toEqual(before)
  })

  test('a server without tools has been listed, too', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files'])
    await list(store, id, 'files', [])
    expect(await store.servers.ofEnvironment(id)).toMatchObject([{ listed_hash: 'files-1', tools_count: 0 }])
  })

  test('a complaint about a list is the error of its server until a list without one', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['files'])
    for (const complaint of ['one was left out', 'two were left out', null]) {
      await list(store, id, 'files', ['a'], { complaint })
      expect((await everyServer(store))[0]?.error).toBe(complaint)
    }
  })

  test('names that move to one another never stand in their own way', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['a', 'b', 'c'])
    // Alone, a tool that is called as another would be called in full has that name for itself.
    await list(store, id, 'a', ['x'])
    await list(store, id, 'b', ['a__x'])
    expect(await namesOf(store, id)).toEqual(['a__x', 'x'])
    const before = await idsByName(store, id)
    await list(store, id, 'c', ['x', 'a__x'])
    const after = await idsByName(store, id)
    // Each of the four is called in full now, and one of them by a name that was another's.
    expect(after).toEqual({
      a__x: before.x,
      b__a__x: before.a__x,
      c__x: expect.any(Number),
      c__a__x: expect.any(Number),
    })
    await list(store, id, 'c', [])
    expect(await idsByName(store, id)).toEqual(before)
  })

  test('a thousand tools are taken at once, and again without a change of anything', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await withServers(store, ['big', 'small'])
    const names = Array.from({ length: 1000 }, (_, index) => `tool_${index}`)
    await list(store, id, 'big', names)
    await list(store, id, 'small', ['tool_7'])
    const before = await idsByName(store, id)
    expect(Object.keys(before)).toHaveLength(1001)
    expect([before.tool_7, before.big__tool_7, before.small__tool_7].map(Boolean)).toEqual([false, true, true])
    await list(store, id, 'big', names.toReversed())
    expect(await idsByName(store, id)).toEqual(before)
    expect((await everyTool(store, { server: 'big' })).map(({ id: one }) => one)).toEqual(
      Object.values(before)
        .toSorted((a, b) => a - b)
        .slice(0, 1000),
    )
  })

  test('a list has the tools of an environment, of a server, and with some text, by id, with that total', async () => {
    await using opened = await open()
    const { store } = opened
    const one = await withServers(store, ['files', 'web'], 'one')
    const two = await withServers(store, ['files'], 'two')
    await list(store, one, 'web', ['zip', tool('get', { description: 'Fetches 100% of a PAGE' })])
    await list(store, one, 'files', ['read_file', tool('find', { description: 'Ärger' })])
    await list(store, two, 'files', ['read_file'])
    expect(await fullNames(store, {})).toEqual(['one/zip', 'one/get', 'one/read_file', 'one/find', 'two/read_file'])
    expect(await fullNames(store, { environment: 'one' })).toHaveLength(4)
    expect(await fullNames(store, { environment: 'none' })).toEqual([])
    expect(await fullNames(store, { server: 'files' })).toEqual(['one/read_file', 'one/find', 'two/read_file'])
    expect(await fullNames(store, { server: 'files', environment: 'two' })).toEqual(['two/read_file'])
    expect(await fullNames(store, { q: 'READ_' })).toEqual(['one/read_file', 'two/read_file'])
    expect(await fullNames(store, { q: '0% of a page' })).toEqual(['one/get'])
    expect(await fullNames(store, { q: 'ärger', environment: 'one', server: 'files' })).toEqual(['one/find'])
    expect(await fullNames(store, { q: '' })).toHaveLength(5)
    for (const limit of [1, 2, 3]) {
      expect(await everyTool(store, {}, limit)).toEqual(await everyTool(store))
      const { total } = await store.tools.list({ server: 'files' }, { page: 99, limit })
      expect(total).toBe(3)
    }
  })
}
