// The embedded store does what every store does.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createAgent, createEnvironment } from './sample.ts'
import { accept, acceptId, createRunnable, get, totalOf } from './sample-runs.ts'
import { type OpenedStore, reopenable, storeSuite } from './suite.ts'

async function openSqlite(): Promise<OpenedStore> {
  const folder = await temporaryFolder()
  return reopenable(() => openSqliteStore(join(folder.path, 'data')), folder.remove)
}

storeSuite('sqlite', openSqlite)

test('text behind a NUL character is kept', async () => {
  await using opened = await openSqlite()
  const prompt = 'before\0after \u{1F9ED}'
  const { id } = await createAgent(opened.store, await createEnvironment(opened.store, 'default'), 'nul', { prompt })
  expect((await opened.store.agents.find(id))?.agent.prompt).toBe(prompt)
})

test('runs that are accepted in one tick share a commit: a reader sees none of them or all', async () => {
  await using opened = await openSqlite()
  const { store } = opened
  const agent = await createRunnable(store)
  const seen = new Set([await totalOf(store, {})])
  let isOver = false
  const accepted = Promise.all(Array.from({ length: 500 }, () => accept(store, agent))).finally(() => {
    isOver = true
  })
  while (!isOver) {
    seen.add(await totalOf(store, {}))
    await new Promise(setImmediate)
  }
  await accepted
  seen.add(await totalOf(store, {}))
  expect([...seen]).toEqual([0, 500])
})

test('a NUL character in a task is kept, and ends a text that a list has to cut', async () => {
  await using opened = await openSqlite()
  const { store } = opened
  const agent = await createRunnable(store)
  const [short, long] = ['before\0after', `before\0${'x'.repeat(5000)}`]
  const ids = [await acceptId(store, agent, { task: short }), await acceptId(store, agent, { task: long })]
  expect((await store.runs.list({}, { page: 1, limit: 2 })).items.map(({ task }) => task)).toEqual(['before…', short])
  expect(await Promise.all(ids.map(async (id) => (await get(store, id)).task))).toEqual([short, long])
})
