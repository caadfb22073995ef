// Agents with immutable versions, and the environments they live in.
import { expect, test } from 'vitest'
import {
  AT,
  createAgent,
  createEnvironment,
  definition,
  everyAgent,
  everyPage,
  outcome,
  removeAgent,
  updateAgent,
} from './sample.ts'
import type { OpenStore } from './suite.ts'

const WHOLE = definition('whole', {
  description: 'all fields set',
  prompt: 'Read {{topic}} and {{depth}}.',
  model: 'openai/gpt-5',
  tools: ['files_read', 'files_write'],
  notify: true,
  enabled: false,
  max_steps: 7,
  timeout_seconds: 61,
  max_concurrency: 3,
  variables: [
    { name: 'topic', required: true, default: null, description: 'What about' },
    { name: 'depth', required: false, default: '2', description: null },
  ],
})

const MEGABYTE = 1024 * 1024
const TEXTS: Record<string, string> = {
  emoji: '👩🏽‍🚀 family 👨‍👩‍👧‍👦, flag 🇺🇳, combining e\u0301, right-to-left \u202Eabc',
  quotes: `'single' "double" \`back\` '' "" \\' \\" ?1 :name @name $1`,
  SQL: `'); DROP TABLE agents; -- ' OR 1=1; /* */ PRAGMA synchronous = OFF;`,
  'line ends and blanks': '\r\n\n\r\t  trailing  \u00a0\u2028\u2029\ufeff',
  'one megabyte': 'ä€😀x'.repeat(MEGABYTE / 10).padEnd(MEGABYTE, '.'),
}

export function agentFacts(open: OpenStore): void {
  test('a new agent is version 1 and reads back as it was given', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    const input = {
      environment_id: environment,
      definition: WHOLE,
      source: 'file',
      file: 'whole.prompt',
      at: AT,
    } as const
    const key = await store.write('createAgent', input)
    expect(key).toEqual({ id: expect.any(Number), version: 1 })
    const time = new Date(AT).toISOString()
    const record = { ...WHOLE, ...key, environment: 'default', environment_id: String(environment), source: 'file' }
    expect(await store.agents.find(key.id)).toEqual({
      agent: { ...record, created_at: time, updated_at: time },
      file: 'whole.prompt',
    })
  })

  test('an update adds a version and leaves every earlier one as it was', async () => {
    await using opened = await open()
    let { store } = opened
    const environment = await createEnvironment(store, 'default')
    const { id } = await createAgent(store, environment, 'one', { tools: ['a'] })
    const seen = [await store.agents.version(id, 1)]
    for (const version of [2, 3, 4]) {
      const changed = definition(`name ${version}`, { prompt: `prompt ${version}`, enabled: version !== 3, tools: [] })
      expect(await updateAgent(store, id, { base: version - 1, definition: changed, at: AT + version })).toEqual({
        id,
        version,
      })
      seen.push(await store.agents.version(id, version))
      expect((await store.agents.find(id))?.agent).toEqual(seen.at(-1))
      expect(seen.at(-1)).toMatchObject({ ...changed, version, updated_at: new Date(AT + version).toISOString() })
    }
    store = await opened.reopen()
    const kept = await Promise.all([1, 2, 3, 4].map((version) => store.agents.version(id, version)))
    expect(kept).toEqual(seen)
    expect(await store.agents.versions(id, { page: 1, limit: 3 })).toEqual({
      items: seen.toReversed().slice(0, 3),
      total: 4,
    })
    expect(await everyPage((page) => store.agents.versions(id, page), 3)).toEqual(seen.toReversed())
    expect(await store.agents.version(id, 5)).toBeUndefined()
  })

  test('an update from an older version is a CONFLICT and changes nothing', async () => {
    await using opened = await open()
    const { store } = opened
    const { id } = await createAgent(store, await createEnvironment(store, 'default'), 'one')
    await updateAgent(store, id, { base: 1, definition: definition('one', { prompt: 'second' }) })
    const before = await store.agents.find(id)
    const stale = definition('other', { prompt: 'third' })
    expect(await outcome(updateAgent(store, id, { base: 1, definition: stale }))).toBe('CONFLICT')
    expect(await outcome(updateAgent(store, id, { base: 3, definition: stale }))).toBe('CONFLICT')
    expect(await store.agents.find(id)).toEqual(before)
    expect((await store.agents.versions(id, { page: 1, limit: 10 })).total).toBe(2)
  })

  test('of twenty updates from the same version at once exactly one wins', async () => {
    await using opened = await open()
    const { store } = opened
    const { id } = await createAgent(store, await createEnvironment(store, 'default'), 'one')
    const racers = Array.from({ length: 20 }, (_, index) => definition('one', { prompt: `racer ${index}` }))
    const outcomes = await Promise.all(
      racers.map((racer) => outcome(updateAgent(store, id, { base: 1, definition: racer }))),
    )
    expect(outcomes.filter((code) => code === 'ok')).toHaveLength(1)
    expect(outcomes.filter((code) => code === 'CONFLICT')).toHaveLength(19)
    expect((await store.agents.find(id))?.agent).toMatchObject({ ...racers[outcomes.indexOf('ok')], version: 2 })
  })

  test('a name is taken within its environment, by creation and by renaming, and free in another', async () => {
    await using opened = await open()
    const { store } = opened
    const [home, away] = [await createEnvironment(store, 'home'), await createEnvironment(store, 'away')]
    const { id } = await createAgent(store, home, 'one')
    const two = await createAgent(store, home, 'two')
    expect(await outcome(createAgent(store, home, 'one'))).toBe('AGENT_EXISTS')
    expect(await outcome(updateAgent(store, two.id, { base: 1, definition: definition('one') }))).toBe('AGENT_EXISTS')
    expect((await store.agents.find(two.id))?.agent).toMatchObject({ name: 'two', version: 1 })
    const other = await createAgent(store, away, 'one')
    expect((await store.agents.named('one')).map((agent) => agent.id)).toEqual([id, other.id])
    expect((await store.agents.named('one', 'away')).map((agent) => agent.id)).toEqual([other.id])
  })

  test('a removed agent is gone but for its versions, and its name is free again', async () => {
    await using opened = await open()
    const { store } = opened
    const environment = await createEnvironment(store, 'default')
    const { id } = await createAgent(store, environment, 'one')
    const before = await store.agents.version(id, 1)
    await removeAgent(store, id)
    expect(await store.agents.find(id)).toBeUndefined()
    expect(await store.agents.named('one')).toEqual([])
    expect(await store.agents.ofEnvironment(environment)).toEqual([])
    expect(await store.agents.version(id, 1)).toEqual(before)
    expect(await outcome(removeAgent(store, id))).toBe('AGENT_NOT_FOUND')
    expect(await outcome(updateAgent(store, id, { base: 1, definition: definition('one') }))).toBe('AGENT_NOT_FOUND')
    const again = await createAgent(store, environment, 'one')
    expect(again).toEqual({ id: expect.any(Number), version: 1 })
    expect(again.id).toBeGreaterThan(id)
    expect((await everyAgent(store)).map((agent) => agent.id)).toEqual([again.id])
  })

  test('the id of the newest agent is never used again, even after a reopening', async () => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    const used: number[] = []
    for (let round = 0; round < 4; round++) {
      const store = await opened.reopen()
      const { id } = await createAgent(store, environment, 'newest')
      used.push(id)
      await removeAgent(store, id)
    }
    expect(new Set(used).size).toBe(4)
    expect(used).toEqual(used.toSorted((a, b) => a - b))
  })

  test('a prompt file that moved makes no new version', async () => {
    await using opened = await open()
    const { store } = opened
    const { id } = await createAgent(store, await createEnvironment(store, 'default'), 'one')
    const before = await store.agents.find(id)
    await store.write('relocateAgent', { id, file: 'moved.prompt' })
    expect(await store.agents.find(id)).toEqual({ ...before, file: 'moved.prompt' })
  })

  test('an environment is created once, however often and however many ask', async () => {
    await using opened = await open()
    const ids = await Promise.all(Array.from({ length: 10 }, () => createEnvironment(opened.store, 'same')))
    expect(new Set(ids).size).toBe(1)
    const store = await opened.reopen()
    const before = await store.environments.find('same')
    expect((await store.write('ensureEnvironment', { name: 'same', at: AT + 999 })).id).toBe(ids[0])
    expect(await store.environments.find('same')).toEqual(before)
    expect(await store.environments.list({ page: 1, limit: 10 })).toEqual({ items: [before], total: 1 })
    expect(await store.environments.findById(ids[0] as number)).toEqual(before)
    expect(await store.environments.find('SAME')).toBeUndefined()
  })

  test('an environment remembers its last sync', async () => {
    await using opened = await open()
    const id = await createEnvironment(opened.store, 'default')
    expect((await opened.store.environments.findById(id))?.last_sync).toBeNull()
    const errors = [{ file: 'default/a.prompt', message: `it's "broken"` }]
    const sync = { status: 'error', at: new Date(AT).toISOString(), changes: 3, errors } as const
    await opened.store.write('recordSync', { id, last_sync: { ...sync, errors } })
    expect((await (await opened.reopen()).environments.findById(id))?.last_sync).toEqual(sync)
  })

  test.each(Object.entries(TEXTS))('text with %s is kept byte for byte', async (_name, text) => {
    await using opened = await open()
    const environment = await createEnvironment(opened.store, 'default')
    const variables = [{ name: 'v', required: false, default: text, description: text }]
    const texts = { prompt: text, description: text, model: text, tools: [text, text], variables }
    const { id } = await createAgent(opened.store, environment, 'exact', texts)
    const read = (await (await opened.reopen()).agents.find(id))?.agent
    expect(Buffer.from(read?.prompt ?? '').equals(Buffer.from(text))).toBe(true)
    expect(read).toMatchObject(texts)
  })
}
