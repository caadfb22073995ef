// The writer and its file can be taken away; the service says so, and never takes a write that nobody will read.
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { startApp } from '../support/app.ts'
import { startScript } from '../support/script.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withoutRootRights } from '../support/without-root-rights.ts'

test('a writer thread that ends refuses who waits for it, and the next write has another', async () => {
  await using folder = await temporaryFolder()
  const threads: Worker[] = []
  const watch = (worker: Worker) => threads.push(worker)
  process.on('worker', watch)
  const store = await openSqliteStore(folder.path)
  const { id } = await store.write('ensureEnvironment', { name: 'one', at: 1 })
  await threads.at(-1)?.terminate()
  process.off('worker', watch)
  const again = await store.write('ensureEnvironment', { name: 'one', at: 1 }).catch(() => store.write('ping', null))
  expect(again === null || again.id === id).toBe(true)
  await store.close()
})

test('a data folder deleted under the service: writes and health answer 503', async () => {
  await using app = await startApp()
  await app.api('POST', '/agents', { name: 'before', prompt: 'Hi' })
  rmSync(join(app.home, 'data'), { recursive: true })
  const refused = { status: 503, body: { error: { code: 'STORAGE_UNAVAILABLE' } } }
  expect(await app.api('POST', '/agents', { name: 'after', prompt: 'Hi' })).toMatchObject(refused)
  expect(await app.api('GET', '/health')).toMatchObject(refused)
})

test('a lock file that may not be written is no lock, and is not taken for one', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await mkdir(data)
  const store = await openSqliteStore(data)
  chmodSync(join(data, 'agenthost.lock'), 0o444)
  await using second = startScript('hold-folder', [data], { wrap: withoutRootRights })
  const [line = ''] = await second.said(1)
  expect(line).not.toBe('OPEN')
  expect(existsSync(join(data, 'agenthost.sqlite'))).toBe(true)
  await store.close()
})
