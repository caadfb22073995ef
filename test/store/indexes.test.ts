// Every list that the schema was designed for walks an index in its order: nothing is scanned, nothing is sorted.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAgentReads } from '../../src/store/agents.ts'
import { createEnvironmentReads } from '../../src/store/environments.ts'
import { readLoad } from '../../src/store/load.ts'
import { createRunReads, type RunFilter, type RunReads } from '../../src/store/runs/reads.ts'
import type { Tables } from '../../src/store/schema.ts'
import { contains } from '../../src/store/sqlite/contains.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'

const PAGE = 'LIMIT 20 OFFSET 0'
const NEWEST = `ORDER BY id DESC ${PAGE}`
const RUNS = 'SELECT id, status FROM runs'

let folder: TemporaryFolder
let db: DatabaseSync

beforeAll(async () => {
  folder = await temporaryFolder()
  await (await openSqliteStore(folder.path)).close()
  db = new DatabaseSync(join(folder.path, 'agenthost.sqlite'), { readOnly: true })
})

afterAll(async () => {
  db.close()
  await folder.remove()
})

const planOf = (sql: string): string[] =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))

/** SCAN … USING INDEX walks an index in its order, which a list of everything may do; a bare SCAN has no order. */
const flaws = (plan: string[]): string[] => plan.filter((step) => /TEMP B-TREE|AUTOMATIC|^SCAN (?!.*USING)/.test(step))

describe('runs, newest first', () => {
  test.each<[filter: string, sql: string, index: string]>([
    ['by status', `${RUNS} WHERE status = ? ${NEWEST}`, 'runs_by_status (status=?)'],
    ['by agent', `${RUNS} WHERE agent_id = ? ${NEWEST}`, '(agent_id=?)'],
    ['by agent and status', `${RUNS} WHERE agent_id = ? AND status = ? ${NEWEST}`, '(agent_id=? AND status=?)'],
    ['by environment', `${RUNS} WHERE environment_id = ? ${NEWEST}`, 'runs_by_environment (environment_id=?)'],
    ['by source', `${RUNS} WHERE source_type = ? ${NEWEST}`, 'runs_by_source (source_type=?)'],
    [
      'by time',
      `${RUNS} WHERE created_at >= ? AND created_at < ? ORDER BY created_at DESC, id DESC ${PAGE}`,
      'runs_by_time (created_at>? AND created_at<?)',
    ],
    [
      'waiting, oldest first',
      `${RUNS} WHERE status = 'running' AND phase = 'queued' ORDER BY id ${PAGE}`,
      'runs_unfinished',
    ],
  ])('%s', (_filter, sql, index) => {
    const plan = planOf(sql)
    expect(flaws(plan)).toEqual([])
    expect(plan.join('\n')).toContain(index)
  })

  test('without a filter the table itself is walked backwards, without sorting', () => {
    expect(planOf(`${RUNS} ${NEWEST}`)).toEqual(['SCAN runs'])
  })
})

describe('the other tables', () => {
  test.each<[list: string, sql: string, index: string]>([
    ['steps of a run in order', 'SELECT * FROM steps WHERE run_id = ? ORDER BY seq', 'steps_by_seq (run_id=?)'],
    [
      'steps of a run behind a sequence number',
      'SELECT * FROM steps WHERE run_id = ? AND seq > ? ORDER BY seq',
      'steps_by_seq (run_id=? AND seq>?)',
    ],
    ['one step by its key', 'SELECT * FROM steps WHERE run_id = ? AND key = ?', '(run_id=? AND key=?)'],
    [
      'deliveries that are due',
      `SELECT * FROM deliveries WHERE status = 'waiting' AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT 50`,
      'deliveries_due',
    ],
    ['deliveries by status', `SELECT id FROM deliveries WHERE status = ? ${NEWEST}`, 'deliveries_by_status (status=?)'],
    ['deliveries of a run', `SELECT id FROM deliveries WHERE run_id = ? ${NEWEST}`, 'deliveries_by_run (run_id=?)'],
    [
      'idempotency keys by age',
      'DELETE FROM idempotency_keys WHERE created_at < ?',
      'idempotency_keys_by_age (created_at<?)',
    ],
    [
      'one idempotency key',
      'SELECT * FROM idempotency_keys WHERE principal = ? AND route = ? AND key = ?',
      '(principal=? AND route=? AND key=?)',
    ],
    ['API keys by age', `SELECT id FROM api_keys ORDER BY created_at DESC ${PAGE}`, 'api_keys_by_age'],
    [
      'tools of an environment',
      `SELECT * FROM tools WHERE environment_id = ? ORDER BY name ${PAGE}`,
      '(environment_id=?)',
    ],
    ['tools of a server', 'SELECT * FROM tools WHERE server_id = ?', '(server_id=?)'],
    [
      'servers of an environment',
      'SELECT * FROM mcp_servers WHERE environment_id = ? ORDER BY name',
      '(environment_id=?)',
    ],
    ['counts of an agent', 'SELECT * FROM run_counts WHERE agent_id = ?', '(agent_id=?)'],
  ])('%s', (_list, sql, index) => {
    const plan = planOf(sql)
    expect(flaws(plan)).toEqual([])
    expect(plan.join('\n')).toContain(index)
  })
})

/** The SQL that the store's own reads send. */
async function sqlOf(read: (kysely: Kysely<Tables>) => Promise<unknown>): Promise<string[]> {
  const seen: string[] = []
  const prepare = (sql: string) => {
    seen.push(sql)
    const statement = db.prepare(sql)
    const all = (values: readonly unknown[]) => statement.all(...(values as string[]))
    return { reader: true, all, run: () => ({ changes: 0, lastInsertRowid: 0 }), iterate: () => statement.iterate() }
  }
  const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database: { prepare, close() {} } }) })
  await read(kysely)
  return seen
}

describe('what the store itself reads', () => {
  const page = { page: 1, limit: 20 }
  test.each<[read: string, (kysely: Kysely<Tables>) => Promise<unknown>]>([
    ['a page of agents', (kysely) => createAgentReads(kysely).list({}, page)],
    ['a page of enabled agents', (kysely) => createAgentReads(kysely).list({ enabled: true }, page)],
    ['a page of agents by words', (kysely) => createAgentReads(kysely).list({ q: 'a' }, page)],
    ['a page of an environment', (kysely) => createAgentReads(kysely).list({ environment: 'default' }, page)],
    ['the agents of an environment', (kysely) => createAgentReads(kysely).ofEnvironment(1)],
    ['an agent', (kysely) => createAgentReads(kysely).find(1)],
    ['agents by name', (kysely) => createAgentReads(kysely).named('a')],
    ['an agent by environment and name', (kysely) => createAgentReads(kysely).named('a', 'default')],
    ['the versions of an agent', (kysely) => createAgentReads(kysely).versions(1, page)],
    ['one version of an agent', (kysely) => createAgentReads(kysely).version(1, 1)],
    ['an environment by name', (kysely) => createEnvironmentReads(kysely).find('default')],
  ])('%s: no sort, no automatic index, no bare scan of agents, versions or runs', async (_read, read) => {
    const statements = await sqlOf(read)
    expect(statements).not.toEqual([])
    for (const sql of statements) {
      const bad = flaws(planOf(sql)).filter((step) => step !== 'SCAN environments')
      expect({ sql, bad }).toEqual({ sql, bad: [] })
    }
  })

  test('the load looks at unfinished runs only', async () => {
    const [runs = ''] = await sqlOf(readLoad)
    expect(planOf(runs).join('\n')).toMatch(/^SEARCH runs USING INDEX/)
  })
})

/** A search here would be a list that looks at more rows than it shows. */
const noSearch = { contains, execute: () => Promise.reject(new Error('this list has to be searched for')) }
const runsOf = (kysely: Kysely<Tables>): RunReads => createRunReads(kysely, noSearch)

/** Every plan of a read, without the counters and the environments: those tables are small. */
async function plansOf(read: (runs: RunReads) => Promise<unknown>): Promise<string[]> {
  const statements = await sqlOf((kysely) => read(runsOf(kysely)))
  const plans = statements.flatMap(planOf)
  expect(plans).not.toEqual([])
  return plans.filter((step) => !/run_counts|environments|^SCALAR SUBQUERY/.test(step))
}

describe('what the store reads of runs', () => {
  const page = { page: 1, limit: 20 }

  beforeAll(() => {
    // A list that counts nothing reads nothing, so there has to be a run; what it says is of no concern.
    const writer = new DatabaseSync(join(folder.path, 'agenthost.sqlite'))
    writer.exec(
      `INSERT INTO environments (id, name, description, created_at, updated_at) VALUES (1, 'default', '', 0, 0)`,
    )
    writer.exec(`INSERT INTO run_counts VALUES (1, 'running', 1, 1)`)
    writer.exec(`INSERT INTO runs (id, agent_id, agent_name, agent_version, environment_id, environment, status, phase,
      timeout_seconds, journal_version, source_type, created_at, message, source, variables, task, messages)
      VALUES (1, 1, 'a', 1, 1, 'default', 'running', 'queued', 1, 1, 'api', 0, '', '{}', '{}', 't', '[]')`)
    writer.exec(`INSERT INTO steps (run_id, key, seq, epoch, type, name, status, started_at)
      VALUES (1, '1', 1, 1, 'model', 'm', 'running', 0)`)
    writer.close()
  })

  test.each<[list: string, filter: RunFilter, walk: RegExp]>([
    ['all', {}, /^SCAN runs$/],
    ['by status', { status: 'running' }, /^SEARCH runs USING INDEX runs_by_status \(status=\?\)$/],
    ['by agent', { agent_id: 1 }, /^SEARCH runs USING INDEX runs_by_agent \(agent_id=\?\)$/],
    [
      'by agent and status',
      { agent_id: 1, status: 'running' },
      /runs_by_agent_and_status \(agent_id=\? AND status=\?\)$/,
    ],
    [
      'by environment',
      { environment: 'default' },
      /^SEARCH runs USING INDEX runs_by_environment \(environment_id=\?\)$/,
    ],
    [
      'by agent and environment',
      { agent_id: 1, environment: 'default' },
      /^SEARCH runs USING INDEX runs_by_agent \(agent_id=\?\)$/,
    ],
  ])('a page of runs, %s, walks one index in its order and touches no step', async (_list, filter, walk) => {
    const plans = await plansOf((runs) => runs.list(filter, page))
    expect(plans).toEqual([expect.stringMatching(walk)])
  })

  test('no page of runs reads steps or messages', async () => {
    const statements = await sqlOf((kysely) => runsOf(kysely).list({}, page))
    expect(statements.join('\n')).not.toMatch(/\bsteps\b|"messages"|select \*/i)
  })

  test.each<[list: string, filter: RunFilter]>([
    ['by environment and status', { environment: 'default', status: 'running' }],
    ['by source', { source: 'api' }],
    ['since', { since: 1 }],
    ['until', { until: 1 }],
    ['by words', { q: 'a' }],
  ])('a page of runs %s is left to the search', async (_list, filter) => {
    await expect(sqlOf((kysely) => runsOf(kysely).list(filter, page))).rejects.toThrow('has to be searched for')
  })

  test('what waits is found by the index of unfinished runs, in its order', async () => {
    const plans = await plansOf((runs) => runs.waiting(0, 10))
    expect(plans.filter((step) => /\bruns\b|TEMP B-TREE/.test(step))).toEqual(
      Array(2).fill('SEARCH runs USING INDEX runs_unfinished (phase=? AND id>?)'),
    )
  })

  test('changes are found by their place in the journal', async () => {
    const plans = await plansOf((runs) => runs.changes(1, 0))
    expect(plans.slice(0, 2)).toEqual([
      'SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH steps USING INDEX steps_by_seq (run_id=? AND seq>? AND seq<?)',
    ])
  })

  test('a run and its request key are found by their keys', async () => {
    expect(flaws(await plansOf((runs) => runs.find(1)))).toEqual([])
    const key = { principal: 'p', route: 'r', key: 'k' }
    expect((await plansOf((runs) => runs.answerTo(key))).join()).toContain('(principal=? AND route=? AND key=?)')
    // Sorting the steps of one run is fine.
    const plans = await plansOf((runs) => runs.detail(1))
    expect(plans.filter((step) => step.startsWith('SCAN'))).toEqual([])
  })

  test('runs that are old enough to go are found by their end', () => {
    const plan = planOf('SELECT id FROM runs WHERE completed_at < ? ORDER BY completed_at LIMIT 100')
    expect(plan).toEqual(['SEARCH runs USING COVERING INDEX runs_by_end (completed_at<?)'])
  })
})
