// A database that cannot be written for a while: refused in time, read all along, and back by itself.
import { cp, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { startScript } from '../support/script.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { mountTinyDisk } from '../support/tiny-disk.ts'
import { createAgent, createEnvironment, everyAgent, outcome } from './sample.ts'
import { query } from './sqlite-file.ts'
import { reopenable } from './suite.ts'

const BIG = 'x'.repeat(100_000)
const MS = 1_000_000

const openedIn = (folder: string) => reopenable(() => openSqliteStore(folder))

/** Writes big prompts until the disk is full; resolves with what was acknowledged. */
async function fillUp(store: Store, environment: number, prefix: string): Promise<string[]> {
  const acknowledged: string[] = []
  for (let round = 0; round < 500; round++) {
    const name = `${prefix} ${round}`
    const code = await outcome(createAgent(store, environment, name, { prompt: BIG }))
    if (code !== 'ok') {
      expect(code).toBe('STORAGE_UNAVAILABLE')
      return acknowledged
    }
    acknowledged.push(name)
  }
  throw new Error('the disk never fills')
}

test('a full disk refuses writes, keeps reads, and takes writes again as soon as there is room', async () => {
  await using disk = await mountTinyDisk(2048, 512)
  const folder = join(disk.path, 'data')
  await using opened = await openedIn(folder)
  const { store } = opened
  const environment = await createEnvironment(store, 'default')
  const acknowledged = await fillUp(store, environment, 'first')
  expect(acknowledged.length).toBeGreaterThan(2)
  const names = async () => (await everyAgent(store)).map(({ name }) => name)
  expect(await names()).toEqual(acknowledged)

  // Still full, alone and together.
  const together = ['a', 'b', 'c'].map((name) => outcome(createAgent(store, environment, name, { prompt: BIG })))
  expect(await Promise.all(together)).toEqual(Array(3).fill('STORAGE_UNAVAILABLE'))
  expect(await names()).toEqual(acknowledged)

  await disk.dropBallast()
  for (const name of ['after', 'and again']) {
    expect(await outcome(createAgent(store, environment, name, { prompt: BIG }))).toBe('ok')
    acknowledged.push(name)
  }
  await store.ping()
  expect(await names()).toEqual(acknowledged)
  expect((await store.environments.find('default'))?.agents_count).toBe(acknowledged.length)

  // The disk may be too small to fold the WAL in, so what is on it is judged on a larger one.
  await store.close()
  await using elsewhere = await temporaryFolder()
  await cp(folder, elsewhere.path, { recursive: true })
  await using moved = await openedIn(elsewhere.path)
  expect((await everyAgent(moved.store)).map(({ name }) => name)).toEqual(acknowledged)
  await moved.store.close()
  expect(query(join(elsewhere.path, 'agenthost.sqlite'), 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
})

test('a start on a full disk is not blamed on another process', async () => {
  await using disk = await mountTinyDisk(1024, 0)
  const folder = join(disk.path, 'data')
  await (await openSqliteStore(folder)).close()
  await expect(writeFile(join(disk.path, 'rest'), Buffer.alloc(2 ** 20))).rejects.toThrow('ENOSPC')
  const refusal = await openSqliteStore(folder).then(
    (store) => store.close(),
    (error: unknown) => error,
  )
  expect(String(refusal)).not.toMatch(/in use by process/)
})

/** Runs something while another process holds the write lock of the database. */
async function whileLocked(file: string, act: () => Promise<void>): Promise<void> {
  await using holder = startScript('hold-write-lock', [file])
  expect(await holder.said(1)).toEqual(['HELD'])
  await act()
  holder.tell('enough')
  expect(await holder.ended).toEqual({ code: 0, signal: null })
}

test('a write lock of another process refuses writes in bounded time, and neither reads nor the loop wait', async () => {
  await using folder = await temporaryFolder()
  await using opened = await openedIn(folder.path)
  const { store } = opened
  const environment = await createEnvironment(store, 'default')
  await createAgent(store, environment, 'before')
  const loop = monitorEventLoopDelay({ resolution: 5 })
  let slowestRead = 0
  await whileLocked(join(folder.path, 'agenthost.sqlite'), async () => {
    loop.enable()
    // Twice, since the second meets a writer that has just given up; together longer than two seconds.
    for (const name of ['during', 'during too']) {
      const asked = performance.now()
      let isOver = false
      const refused = outcome(createAgent(store, environment, name)).finally(() => {
        isOver = true
      })
      while (!isOver) {
        const start = performance.now()
        expect((await everyAgent(store)).map((agent) => agent.name)).toEqual(['before'])
        slowestRead = Math.max(slowestRead, performance.now() - start)
        await new Promise(setImmediate)
      }
      expect(await refused).toBe('STORAGE_UNAVAILABLE')
      expect(performance.now() - asked).toBeLessThan(5_000)
    }
    expect(await outcome(store.ping())).toBe('STORAGE_UNAVAILABLE')
    loop.disable()
  })
  expect(loop.max / MS).toBeLessThan(800)
  expect(slowestRead).toBeLessThan(800)
  expect(await outcome(createAgent(store, environment, 'after'))).toBe('ok')
  expect((await everyAgent(store)).map(({ name }) => name)).toEqual(['before', 'after'])
  expect((await everyAgent(await opened.reopen())).map(({ name }) => name)).toEqual(['before', 'after'])
})

test('a lock that is let go in time delays a write and does not refuse it', async () => {
  await using folder = await temporaryFolder()
  await using opened = await openedIn(folder.path)
  const { store } = opened
  const environment = await createEnvironment(store, 'default')
  let waiting: Promise<string> | undefined
  await whileLocked(join(folder.path, 'agenthost.sqlite'), async () => {
    waiting = outcome(createAgent(store, environment, 'patient'))
  })
  expect(await waiting).toBe('ok')
})

test('a folder that is gone for a while is an outage, not an error of ours', async () => {
  await using temporary = await temporaryFolder()
  const [folder, away] = [join(temporary.path, 'data'), join(temporary.path, 'away')]
  await using opened = await openedIn(folder)
  const { store } = opened
  const environment = await createEnvironment(store, 'default')
  // Makes the writer let go of its file, so that it has to open it anew.
  await whileLocked(join(folder, 'agenthost.sqlite'), async () => {
    expect(await outcome(createAgent(store, environment, 'locked out'))).toBe('STORAGE_UNAVAILABLE')
  })
  await rename(folder, away)
  expect(await outcome(createAgent(store, environment, 'nowhere'))).toBe('STORAGE_UNAVAILABLE')
  await rename(away, folder)
  expect(await outcome(createAgent(store, environment, 'back'))).toBe('ok')
  expect((await everyAgent(store)).map(({ name }) => name)).toEqual(['back'])
})
