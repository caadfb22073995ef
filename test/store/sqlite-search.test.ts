// The search thread: bounded, ended with the store, and back by itself after whatever went wrong.
import { readdirSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { createSearchThread } from '../../src/store/sqlite/search.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { outcome } from './sample.ts'
import { acceptId, createRunnable, totalOf } from './sample-runs.ts'
import { reopenable } from './suite.ts'

const openedIn = (folder: string) => reopenable(() => openSqliteStore(folder))

/** Keeps a thread busy for as long as the test needs, and longer. */
const ENDLESS = {
  sql: 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e9) SELECT max(lower(i)) FROM n',
  parameters: [],
}
const ONE = { sql: 'SELECT ? AS one', parameters: [1] }

async function withSearch(act: (search: ReturnType<typeof createSearchThread>) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder()
  await (await openSqliteStore(folder.path)).close()
  const search = createSearchThread(join(folder.path, 'agenthost.sqlite'))
  try {
    await act(search)
  } finally {
    await search.close()
  }
}

// What the thread executes is text and values; the rest of a compiled query stays here.
const ask = (search: ReturnType<typeof createSearchThread>, query: { sql: string; parameters: unknown[] }) =>
  search.execute(query as never)

/** The threads that start while something is done. */
async function threadsOf(act: () => Promise<unknown>): Promise<Worker[]> {
  const threads: Worker[] = []
  const listen = (worker: Worker) => threads.push(worker)
  process.on('worker', listen)
  try {
    await act()
    // The event comes a tick after the thread.
    await new Promise(setImmediate)
  } finally {
    process.off('worker', listen)
  }
  return threads
}

test('the thread starts with the first search, and one is enough for all', async () => {
  await using folder = await temporaryFolder()
  await using opened = await openedIn(folder.path)
  const { store } = opened
  await acceptId(store, await createRunnable(store))
  const search = () => totalOf(store, { q: 'do it' })
  expect(await threadsOf(() => totalOf(store, { status: 'running' }))).toHaveLength(0)
  expect(await threadsOf(search)).toHaveLength(1)
  expect(await threadsOf(() => Promise.all([search(), search(), search()]))).toHaveLength(0)
})

test('of many searches at once a hundred may wait, and the rest is refused at once', () =>
  withSearch(async (search) => {
    const asked = await Promise.allSettled(Array.from({ length: 120 }, () => ask(search, ONE)))
    const refused = asked.slice(101).map((one) => one.status === 'rejected' && one.reason)
    expect(asked.slice(0, 101).filter(({ status }) => status === 'rejected')).toEqual([])
    for (const error of refused) {
      expect(error).toMatchObject({
        ...{ code: 'STORAGE_UNAVAILABLE', message: expect.stringMatching(/too many searches/) },
      })
    }
    expect(await Promise.all(Array.from({ length: 101 }, () => outcome(ask(search, ONE))))).toEqual(
      Array(101).fill('ok'),
    )
  }))

test('answers go to those who asked', () =>
  withSearch(async (search) => {
    const asked = Array.from({ length: 50 }, (_, one) => ask(search, { ...ONE, parameters: [one] }))
    expect((await Promise.all(asked)).flat()).toEqual(Array.from({ length: 50 }, (_, one) => ({ one })))
  }))

test('a mistake in the SQL is ours, not an outage, and the next search works', () =>
  withSearch(async (search) => {
    expect(await outcome(ask(search, { sql: 'SELECT nothing FROM nowhere', parameters: [] }))).toBe('INTERNAL_ERROR')
    expect(await ask(search, ONE)).toEqual([{ one: 1 }])
  }))

test('the thread cannot write', () =>
  withSearch(async (search) => {
    const attempts = ['DELETE FROM runs', 'CREATE TABLE t (a)', 'PRAGMA user_version = 9']
    for (const sql of attempts) expect(await outcome(ask(search, { sql, parameters: [] }))).not.toBe('ok')
  }))

test('a thread that dies takes one search along; those behind it and the next ones are answered', () =>
  withSearch(async (search) => {
    let lost: Promise<string> | undefined
    const [thread] = await threadsOf(async () => {
      lost = outcome(ask(search, ENDLESS))
    })
    expect(thread).toBeInstanceOf(Worker)
    const behind = ask(search, ONE)
    await thread?.terminate()
    expect(await lost).toBe('STORAGE_UNAVAILABLE')
    expect(await behind).toEqual([{ one: 1 }])
    expect(await ask(search, ONE)).toEqual([{ one: 1 }])
  }))

test('a folder that is gone for a while is an outage of searches, and no longer once it is back', async () => {
  await using temporary = await temporaryFolder()
  const [folder, away] = [join(temporary.path, 'data'), join(temporary.path, 'away')]
  await using opened = await openedIn(folder)
  const { store } = opened
  await acceptId(store, await createRunnable(store))
  await rename(folder, away)
  expect(await outcome(totalOf(store, { source: 'api' }))).toBe('STORAGE_UNAVAILABLE')
  await rename(away, folder)
  expect(await totalOf(store, { source: 'api' })).toBe(1)
})

test('closing breaks off a search, refuses those that wait, and leaves no WAL behind', async () => {
  await using folder = await temporaryFolder()
  await using opened = await openedIn(folder.path)
  const { store } = opened
  await acceptId(store, await createRunnable(store))
  const search = createSearchThread(join(folder.path, 'agenthost.sqlite'))
  await ask(search, ONE)
  const refused = [ENDLESS, ONE].map((query) => outcome(ask(search, query)))
  await search.close()
  expect(await Promise.all(refused)).toEqual(Array(2).fill('STORAGE_UNAVAILABLE'))
  expect(await outcome(ask(search, ONE))).toBe('STORAGE_UNAVAILABLE')
  const late = outcome(totalOf(store, { q: 'do it' }))
  await store.close()
  expect(await late).toBe('STORAGE_UNAVAILABLE')
  expect(await outcome(totalOf(store, { q: 'do it' }))).toBe('STORAGE_UNAVAILABLE')
  expect(readdirSync(folder.path).filter((name) => /wal|shm/.test(name))).toEqual([])
})
