// One process per data folder, for as long as it lives and not a moment longer.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { startScript } from '../support/script.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createEnvironment, outcome } from './sample.ts'

const refusal = async (folder: string) =>
  openSqliteStore(folder).then(
    async (store) => {
      await store.close()
      throw new Error('the folder was opened')
    },
    (error: unknown) => error,
  )

test('a second process is refused with exit code 3 and the pid of the first, which goes on', async () => {
  await using folder = await temporaryFolder()
  await using first = startScript('hold-folder', [folder.path])
  expect(await first.said(1)).toEqual(['OPEN'])
  const expected = { name: 'StartError', exitCode: 3, message: expect.stringContaining(`process ${first.pid}.`) }
  expect(await refusal(folder.path)).toMatchObject(expected)
  await using second = startScript('hold-folder', [folder.path])
  const [line = ''] = await second.said(1)
  expect(JSON.parse(line)).toEqual(expected)
  expect(await refusal(folder.path)).toMatchObject(expected)
  first.tell('enough')
  expect(await first.ended).toEqual({ code: 0, signal: null })
})

test('after kill -9 of the first process the folder opens at once, every time', async () => {
  await using folder = await temporaryFolder()
  for (let round = 0; round < 3; round++) {
    await using first = startScript('hold-folder', [folder.path])
    expect(await first.said(1)).toEqual(['OPEN'])
    expect(await first.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
    const store = await openSqliteStore(folder.path)
    await store.ping()
    await store.close()
  }
})

test('a second open in the same process is refused, and the first keeps its lock through that', async () => {
  await using folder = await temporaryFolder()
  const store = await openSqliteStore(folder.path)
  try {
    const expected = { name: 'StartError', exitCode: 3, message: expect.stringContaining(`process ${process.pid}.`) }
    expect(await refusal(folder.path)).toMatchObject(expected)
    expect(await refusal(folder.path)).toMatchObject(expected)
    await using other = startScript('hold-folder', [folder.path])
    const [line = ''] = await other.said(1)
    expect(JSON.parse(line)).toEqual(expected)
    await store.ping()
  } finally {
    await store.close()
  }
  await (await openSqliteStore(folder.path)).close()
})

test('a closed store leaves neither its pid nor a WAL behind', async () => {
  await using folder = await temporaryFolder()
  const store = await openSqliteStore(folder.path)
  await createEnvironment(store, 'default')
  await store.environments.find('default')
  await store.close()
  expect(readdirSync(folder.path).filter((name) => /pid|wal|shm|journal/.test(name))).toEqual([])
})

test('a lock file that is no lock file is not blamed on another process', async () => {
  await using folder = await temporaryFolder()
  writeFileSync(join(folder.path, 'agenthost.lock'), 'garbage '.repeat(1000))
  expect(String(await refusal(folder.path))).not.toMatch(/in use by process/)
})

/** The read lock by which SQLite tells other programs that the database is in use. */
function holdsSharedLock(file: string): boolean {
  const { ino } = statSync(file)
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))
}

// Without that lock an `sqlite3 agenthost.sqlite .tables` deletes the WAL under the running service when it leaves,
// and every later write is acknowledged into a file without a name.
test.each<[when: string, act: (store: Store, file: string) => Promise<unknown>]>([
  ['a write', (store) => createEnvironment(store, 'default')],
  ['a read, then a write', (store) => store.environments.find('x').then(() => createEnvironment(store, 'default'))],
  ['an outage that made the writer open the file anew', outage],
])('after %s the database file itself is still locked against other programs', async (_when, act) => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'agenthost.sqlite')
  const store = await openSqliteStore(folder.path)
  try {
    await act(store, file)
    await store.environments.find('default')
    expect(holdsSharedLock(file)).toBe(true)
  } finally {
    await store.close()
  }
})

async function outage(store: Store, file: string): Promise<void> {
  await createEnvironment(store, 'before')
  await store.environments.find('before')
  await using holder = startScript('hold-write-lock', [file])
  await holder.said(1)
  expect(await outcome(createEnvironment(store, 'during'))).toBe('STORAGE_UNAVAILABLE')
  holder.tell('enough')
  await holder.ended
  await createEnvironment(store, 'after')
}
