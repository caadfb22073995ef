// What durability rests on: the settings at every open, and an fsync before every answer.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openReader, openWriter } from '../../src/store/sqlite/connection.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { startScript } from '../support/script.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createAgent, createEnvironment } from './sample.ts'

const WHOLE_MODE = 0o777

async function writeThrough(folder: string): Promise<void> {
  const store = await openSqliteStore(folder)
  await createAgent(store, await createEnvironment(store, 'default'), 'one')
  await store.close()
}

function settings(file: string) {
  const db = openWriter(file)
  try {
    const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
    return { journal: pragma('journal_mode'), synchronous: pragma('synchronous'), keys: pragma('foreign_keys') }
  } finally {
    db.close()
  }
}

test('a new database, a reopened one and one that others switched back all get WAL and synchronous=FULL', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'data', 'agenthost.sqlite')
  const durable = { journal: 'wal', synchronous: 2, keys: 1 }
  writeFileSync(join(folder.path, 'new.sqlite'), '')
  expect(settings(join(folder.path, 'new.sqlite'))).toEqual(durable)
  await writeThrough(join(folder.path, 'data'))
  expect(settings(file)).toEqual(durable)
  expect(settings(file)).toEqual(durable)
  const db = openWriter(file)
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
  expect(settings(file)).toEqual(durable)
})

test('the folder is 0700 and every file in it 0600, while it is open and afterwards', async () => {
  await using temporary = await temporaryFolder()
  const folder = join(temporary.path, 'data')
  const modes = () =>
    readdirSync(folder).map((name) => `${name} ${(statSync(join(folder, name)).mode & WHOLE_MODE).toString(8)}`)
  const before = process.umask(0o022)
  try {
    const store = await openSqliteStore(folder)
    await createEnvironment(store, 'default')
    expect((statSync(folder).mode & WHOLE_MODE).toString(8)).toBe('700')
    const open = modes()
    await store.close()
    expect([...open, ...modes()].filter((mode) => !mode.endsWith(' 600'))).toEqual([])
  } finally {
    process.umask(before)
  }
})

test('the handle for reading cannot write, not even when it asks for it', async () => {
  await using folder = await temporaryFolder()
  await writeThrough(folder.path)
  const db = openReader(join(folder.path, 'agenthost.sqlite'))
  try {
    expect(db.prepare('SELECT count(*) AS count FROM agents').get()).toEqual({ count: 1 })
    const attempts = ["UPDATE agents SET name = 'x'", 'DELETE FROM agents', 'CREATE TABLE t (a)', 'DROP TABLE runs']
    for (const sql of attempts) expect(() => db.exec(sql)).toThrow(/readonly/)
    db.exec('PRAGMA query_only = OFF')
    for (const sql of attempts) expect(() => db.exec(sql)).toThrow(/readonly/)
  } finally {
    db.close()
  }
})

interface Traced {
  /** fsyncs of the WAL that returned 0 between the question and its answer. */
  syncs: number
  /** The last write to the WAL came before the last of those fsyncs, so it covers everything. */
  isCovered: boolean
}

async function trace(writes: number): Promise<Traced> {
  await using folder = await temporaryFolder()
  const log = join(folder.path, 'trace.txt')
  const calls = 'trace=fsync,fdatasync,write,pwrite64,writev,pwritev'
  const wrap = ['strace', '-f', '-y', '-s', '32', '-e', calls, '-o', log]
  await using script = startScript('write-once', [join(folder.path, 'data'), String(writes)], { wrap })
  expect(await script.ended, script.stderr()).toEqual({ code: 0, signal: null })
  const lines = joinHalves(readFileSync(log, 'utf8'))
  const marker = (text: string) => lines.findIndex((line) => new RegExp(`write\\(1<.*"${text}\\\\n"`).test(line))
  const [asked, answered] = [marker('ASKED'), marker('ANSWERED')]
  expect(asked).toBeGreaterThan(-1)
  expect(answered).toBeGreaterThan(asked)
  const between = lines.slice(asked, answered)
  const isSync = (line: string) => /\bf(data)?sync\(\d+<[^>]*\.sqlite-wal>\)\s+= 0/.test(line)
  const isWalWrite = (line: string) => /\bp?writev?(64)?\(\d+<[^>]*\.sqlite-wal>/.test(line)
  expect(between.some(isWalWrite)).toBe(true)
  return {
    syncs: between.filter(isSync).length,
    isCovered: between.findLastIndex(isWalWrite) < between.findLastIndex(isSync),
  }
}

/** A call that another thread interrupted stands in two lines; it counts where it returned. */
function joinHalves(text: string): string[] {
  const open = new Map<string, string>()
  return text.split('\n').flatMap((line) => {
    const [, pid = '', call = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (call.endsWith('<unfinished ...>')) {
      open.set(pid, call.slice(0, -'<unfinished ...>'.length).trimEnd())
      return []
    }
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(call) ?? []
    return [rest === undefined ? call : `${open.get(pid)}${rest}`]
  })
}

test('an fsync of the WAL that succeeded lies between a write and its answer', async () => {
  const { syncs, isCovered } = await trace(1)
  expect(syncs).toBeGreaterThanOrEqual(1)
  expect(isCovered).toBe(true)
})

test('two hundred writes of one tick share a handful of fsyncs', async () => {
  const { syncs, isCovered } = await trace(200)
  expect(syncs).toBeGreaterThanOrEqual(1)
  expect(syncs).toBeLessThanOrEqual(5)
  expect(isCovered).toBe(true)
})
