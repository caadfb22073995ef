// What reading and writing tools costs: indexes where they count, and nothing written when nothing changed.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimRun } from '../../src/store/runs/claim-write.ts'
import { recordSteps } from '../../src/store/runs/journal-write.ts'
import { forgetToolsets } from '../../src/store/runs/toolsets-write.ts'
import type { Tables } from '../../src/store/schema.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Write } from '../../src/store/statement.ts'
import { createServerReads } from '../../src/store/tools/servers.ts'
import { syncServers } from '../../src/store/tools/servers-write.ts'
import { createToolReads } from '../../src/store/tools/tools.ts'
import { recordTools } from '../../src/store/tools/tools-write.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'
import { AT } from './sample.ts'
import { acceptId, createRunnable } from './sample-runs.ts'
import { list, server, sync, tool } from './sample-tools.ts'

const TOOLS = Array.from({ length: 50 }, (_, index) => tool(`tool_${index}`))
const SERVERS = [server('files'), server('web'), server('off', { keeps_tools: false })]

let folder: TemporaryFolder
let db: DatabaseSync
let environment_id: number
let run_id: number

beforeAll(async () => {
  folder = await temporaryFolder()
  const store = await openSqliteStore(folder.path)
  const agent = await createRunnable(store)
  environment_id = agent.environment_id
  run_id = await acceptId(store, agent)
  await sync(store, environment_id, SERVERS)
  await list(store, environment_id, 'files', TOOLS)
  await list(store, environment_id, 'web', ['tool_1'])
  await store.close()
  db = new DatabaseSync(join(folder.path, 'agenthost.sqlite'))
})

afterAll(async () => {
  db.close()
  await folder.remove()
})

/** Runs a write as the writer would; says which statements it took and how many rows it changed. */
function perform<Result>(write: Write<Result>) {
  const statements: string[] = []
  const before = totalChanges()
  let next = write.next()
  while (!next.done) {
    const text = next.value.parts.join('?')
    statements.push(text)
    next = write.next(db.prepare(text).all(...next.value.values))
  }
  return { statements, changes: totalChanges() - before, result: next.value }
}

const totalChanges = () => Number(db.prepare('SELECT total_changes() AS count').get()?.count)

test('a list that is the same as before writes nothing', () => {
  const listing = { environment_id, name: 'files', config_hash: 'files-1', complaint: null }
  const same = perform(recordTools({ ...listing, tools: TOOLS.toReversed() }))
  expect(same.changes).toBe(0)
  expect(same.statements).toHaveLength(2)
  const renamed = TOOLS.with(3, tool('tool_3', { description: 'Another' }))
  expect(perform(recordTools({ ...listing, tools: renamed })).changes).toBe(1)
})

test('files that say the same as before write nothing', () => {
  expect(perform(syncServers({ environment_id, servers: SERVERS })).changes).toBe(0)
})

test('a run without anything to offer takes no statement for it', () => {
  const claimed = perform(claimRun({ id: run_id, owner: 'one', at: AT }))
  expect(claimed.statements.join('\n')).not.toMatch(/toolsets/)
  const { epoch } = claimed.result.run ?? { epoch: -1 }
  const recording = { run_id, epoch, consumed_ms: 0, entries: [], ending: null, at: AT }
  expect(perform(recordSteps(recording))).toMatchObject({ changes: 1, statements: [expect.stringContaining('UPDATE')] })
  const offered = perform(recordSteps({ ...recording, toolset: { hash: 'h', tools: '[]' } }))
  expect(offered).toMatchObject({ changes: 2, statements: [expect.any(String), expect.stringContaining('toolsets')] })
  // Known and young: the use is not noted again.
  expect(perform(recordSteps({ ...recording, toolset: { hash: 'h', tools: '[]' } })).changes).toBe(1)
})

const planOf = (sql: string): string[] =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))

/** How SQLite goes about what the reads ask. */
async function plansOf(read: (kysely: Kysely<Tables>) => Promise<unknown>): Promise<string[]> {
  const seen: string[] = []
  const prepare = (sql: string) => {
    seen.push(...planOf(sql))
    const statement = db.prepare(sql)
    const all = (values: readonly unknown[]) => statement.all(...(values as string[]))
    return { reader: true, all, run: () => ({ changes: 0, lastInsertRowid: 0 }), iterate: () => statement.iterate() }
  }
  await read(new Kysely<Tables>({ dialect: new SqliteDialect({ database: { prepare, close() {} } }) }))
  return seen
}

test.each<[read: string, walk: string, (kysely: Kysely<Tables>) => Promise<unknown>]>([
  ['the tools of an environment', '(environment_id=?)', (kysely) => createToolReads(kysely).ofEnvironment(1)],
  ['a tool', 't USING INTEGER PRIMARY KEY', (kysely) => createToolReads(kysely).find(1)],
  ['a page of tools', 'SCAN t', (kysely) => createToolReads(kysely).list({}, { page: 1, limit: 20 })],
  [
    'a page of the tools of an environment',
    'tools_by_environment (environment_id=?)',
    (kysely) => createToolReads(kysely).list({ environment: 'default' }, { page: 1, limit: 20 }),
  ],
  ['a page of servers', 'SCAN s', (kysely) => createServerReads(kysely).list({}, { page: 1, limit: 20 })],
])('%s: found by %s, in order', async (_read, walk, read) => {
  const plans = await plansOf(read)
  expect(plans.join('\n')).toContain(walk)
  expect(plans.filter((step) => /TEMP B-TREE|AUTOMATIC/.test(step))).toEqual([])
})

test('toolsets that are old are found by their last use, and queued runs are not looked at', () => {
  const { statements } = perform(forgetToolsets({ unused_since: 0, limit: 100 }))
  expect(statements).toHaveLength(1)
  const plan = planOf(statements[0] ?? '').filter((step) => /SEARCH|SCAN/.test(step))
  expect(plan).toEqual([
    expect.stringMatching(/^SEARCH toolsets USING .*\(hash=\?\)$/),
    'SEARCH toolsets USING INDEX toolsets_by_use (used_at<?)',
    ...Array(3).fill('SEARCH runs USING INDEX runs_unfinished (phase=?)'),
  ])
})
