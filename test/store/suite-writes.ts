// Writes share commits; that is nobody's concern but the store's.
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import {
  AT,
  createAgent,
  createEnvironment,
  definition,
  everyAgent,
  outcome,
  removeAgent,
  updateAgent,
} from './sample.ts'
import type { OpenStore } from './suite.ts'

const names = (count: number, prefix = 'agent') => Array.from({ length: count }, (_, index) => `${prefix} ${index}`)

/** Writes that are refused for different reasons, one of them deep inside the database. */
const BAD: Record<string, (store: Store, environmentId: number, taken: number) => Promise<unknown>> = {
  AGENT_EXISTS: (store, environmentId) => createAgent(store, environmentId, 'taken'),
  CONFLICT: (store, _environmentId, taken) => updateAgent(store, taken, { base: 9, definition: definition('taken') }),
  AGENT_NOT_FOUND: (store) => removeAgent(store, 999_999),
  INTERNAL_ERROR: (store) => createAgent(store, 999_999, 'in no environment'),
}

export function writeFacts(open: OpenStore): void {
  test('a write that fails takes nothing of its neighbours along and leaves nothing itself', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    const taken = await createAgent(store, environment, 'taken')
    const kinds = Object.entries(BAD)
    const mixed = names(80).map((name, index) => {
      const bad = index % 3 === 1 ? kinds[index % kinds.length] : undefined
      const promise = bad ? bad[1](store, environment, taken.id) : createAgent(store, environment, name)
      return { name, expected: bad?.[0] ?? 'ok', promise: outcome(promise) }
    })
    expect(await Promise.all(mixed.map(({ promise }) => promise))).toEqual(mixed.map(({ expected }) => expected))
    const survivors = mixed.filter(({ expected }) => expected === 'ok').map(({ name }) => name)
    const after = await opened.reopen()
    expect((await everyAgent(after)).map(({ name }) => name)).toEqual(['taken', ...survivors])
    expect((await after.environments.find('default'))?.agents_count).toBe(survivors.length + 1)
    expect((await after.agents.versions(taken.id, { page: 1, limit: 10 })).total).toBe(1)
  })

  test('a write that fails half way undoes what it did before it failed', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    // The agent's row is in by the time its version is refused: a prompt is never null.
    const broken = { ...definition('half'), prompt: null as never }
    const input = { environment_id: environment, definition: broken, source: 'api', file: null, at: AT } as const
    const half = outcome(store.write('createAgent', input))
    const neighbour = createAgent(store, environment, 'neighbour')
    expect(await half).toBe('INTERNAL_ERROR')
    expect((await everyAgent(store)).map(({ id }) => id)).toEqual([(await neighbour).id])
    expect((await store.environments.find('default'))?.agents_count).toBe(1)
    expect(await outcome(createAgent(store, environment, 'half'))).toBe('ok')
  })

  test('later writes of one tick see the earlier ones', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    const { id } = await createAgent(store, environment, 'one')
    const outcomes = await Promise.all([
      outcome(updateAgent(store, id, { base: 1, definition: definition('renamed') })),
      outcome(createAgent(store, environment, 'one')),
      outcome(createAgent(store, environment, 'renamed')),
      outcome(removeAgent(store, id)),
      outcome(createAgent(store, environment, 'renamed')),
      outcome(removeAgent(store, id)),
    ])
    expect(outcomes).toEqual(['ok', 'ok', 'AGENT_EXISTS', 'ok', 'ok', 'AGENT_NOT_FOUND'])
    expect((await everyAgent(store)).map(({ name }) => name)).toEqual(['one', 'renamed'])
  })

  test('answers come in the order of the questions', async () => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    const settled: number[] = []
    const writes = names(100).map((name, index) =>
      createAgent(opened.store, environment, index % 10 === 9 ? 'agent 0' : name).then(
        ({ id }) => ({ index: settled.push(index), id }),
        () => ({ index: settled.push(index), id: undefined }),
      ),
    )
    const ids = (await Promise.all(writes)).map(({ id }) => id).filter((id) => id !== undefined)
    expect(settled).toEqual(writes.map((_, index) => index))
    expect(ids).toHaveLength(90)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  })

  test('two thousand writes at once all arrive, each answer with its own question', async () => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    const wanted = names(2000)
    const keys = await Promise.all(wanted.map((name) => createAgent(opened.store, environment, name)))
    const agents = await everyAgent(await opened.reopen())
    expect(new Map(agents.map(({ id, name }) => [id, name]))).toEqual(
      new Map(keys.map(({ id }, index) => [id, wanted[index] as string])),
    )
  })

  test('a write that was answered is there for the next read', async () => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    for (const name of names(50)) {
      const { id } = await createAgent(opened.store, environment, name)
      expect((await opened.store.agents.find(id))?.agent.name).toBe(name)
    }
  })

  test('closing finishes what was handed over', async () => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    const wanted = names(200)
    const writes = wanted.map((name) => outcome(createAgent(opened.store, environment, name)))
    await opened.store.close()
    expect(new Set(await Promise.all(writes))).toEqual(new Set(['ok']))
    expect((await everyAgent(await opened.reopen())).map(({ name }) => name)).toEqual(wanted)
  })

  test('a write or a ping after closing is refused with STORAGE_UNAVAILABLE and never done', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    await createAgent(store, environment, 'one')
    await store.close()
    expect(await outcome(createAgent(store, environment, 'late'))).toBe('STORAGE_UNAVAILABLE')
    expect(await outcome(store.ping())).toBe('STORAGE_UNAVAILABLE')
    expect((await everyAgent(await opened.reopen())).map(({ name }) => name)).toEqual(['one'])
  })

  test('a read after closing is refused with STORAGE_UNAVAILABLE', async () => {
    await using opened = await open()
    const { store } = opened
    const { id } = await createAgent(store, await createEnvironment(store, 'default'), 'one')
    await store.agents.find(id)
    await store.close()
    await expect(store.agents.find(id)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    await expect(store.environments.find('default')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  })

  test('an empty store can be closed before anything was written, answers pings and has no load', async () => {
    await using opened = await open()
    await opened.store.close()
    const store = await opened.reopen()
    await store.ping()
    expect(await store.load()).toEqual({
      ...{ queued: 0, executing: 0, oldest_queued_at: null },
      ...{ servers_up: 0, servers_down: 0 },
    })
    expect(await store.environments.list({ page: 1, limit: 10 })).toEqual({ items: [], total: 0 })
    expect(await store.agents.list({}, { page: 1, limit: 10 })).toEqual({ items: [], total: 0 })
  })
}
