// Migrations survive a kill -9 before any of their statements; a newer schema is left alone.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import { createPrivateFile, openWriter } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { startScript } from '../support/script.ts'
import { HISTORY, NEXT, THIS } from '../support/store-scripts/migrations.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createAgent, createEnvironment, removeAgent } from './sample.ts'
import { claim, record } from './sample-runs.ts'
import { idsByName, list } from './sample-tools.ts'
import { query, type Rows, schemaOf } from './sqlite-file.ts'

function migrateTo(file: string, age: number): void {
  const db = openWriter(file)
  try {
    migrate(db, { migrations: HISTORY[age] ?? [] })
  } finally {
    db.close()
  }
}

async function fillThisVersion(folder: string): Promise<void> {
  const store = await openSqliteStore(folder)
  const [one, two] = [await createEnvironment(store, 'one'), await createEnvironment(store, 'two')]
  const keys = await Promise.all(['a', 'b', 'c', 'd'].map((name) => createAgent(store, one, name)))
  await createAgent(store, two, 'a')
  await removeAgent(store, keys[3]?.id as number)
  await store.close()
}

/** An environment with a server, its tool, an agent and a run under way, as the schema of version 2 has them. */
const VERSION_2_DATA = `
  INSERT INTO environments (id, name, description, agents_count, mcp_servers_count, tools_count, created_at, updated_at)
    VALUES (1, 'default', '', 1, 1, 1, 0, 0);
  INSERT INTO mcp_servers (id, environment_id, name, transport, config, config_hash, status, tools_count)
    VALUES (7, 1, 'files', 'stdio', '{"command":"node","args":[]}', 'h', 'up', 1);
  INSERT INTO tools (id, server_id, environment_id, name, own_name, description, annotations, input_schema)
    VALUES (9, 7, 1, 'read', 'read', 'Reads', '{}', '{}');
  INSERT INTO agents (id, environment_id, name, version, source, created_at, updated_at)
    VALUES (1, 1, 'a', 1, 'api', 0, 0);
  INSERT INTO agent_versions (agent_id, version, name, description, notify, enabled, max_steps, timeout_seconds,
    variables, prompt, created_at) VALUES (1, 1, 'a', '', 0, 1, 5, 900, '[]', 'p', 0);
  INSERT INTO run_counts (agent_id, status, environment_id, count) VALUES (1, 'running', 1, 1);
  INSERT INTO runs (id, agent_id, agent_name, agent_version, environment_id, environment, status, phase, owner, epoch,
    attempts, journal_seq, steps_count, timeout_seconds, journal_version, model, source_type, created_at, started_at,
    message, source, variables, task, messages)
    VALUES (3, 1, 'a', 1, 1, 'default', 'running', 'executing', 'one', 1, 1, 1, 1, 900, 1, 'offline/offline', 'api', 0,
    0, '', '{}', '{}', 'Do it', '[{"role":"user","content":"Do it"}]');
  INSERT INTO steps (run_id, key, seq, epoch, type, name, status, started_at)
    VALUES (3, '1', 1, 1, 'model', 'offline/offline', 'running', 0)`

/** Kills a migration before its n-th statement and says whether there was such a statement. */
async function killBefore(statement: number, file: string, age: number): Promise<boolean> {
  await using script = startScript('migrate-until', [file, String(age), String(statement)])
  const { code, signal } = await script.ended
  if (signal === 'SIGKILL') return true
  expect({ code, lines: script.lines() }, script.stderr()).toEqual({ code: 0, lines: ['DONE'] })
  return false
}

describe('a migration killed with kill -9 before any of its statements', { timeout: 90_000 }, () => {
  let fresh: ReturnType<typeof schemaOf>
  let upgraded: { schema: ReturnType<typeof schemaOf>; labels: Rows; counts: Rows }
  const moved = (file: string) => ({
    schema: schemaOf(file),
    labels: query(file, 'SELECT * FROM labels ORDER BY id'),
    counts: query(file, 'SELECT name, agents_count, labels_count FROM environments ORDER BY id'),
  })

  beforeAll(async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'agenthost.sqlite')
    await fillThisVersion(folder.path)
    fresh = schemaOf(file)
    migrateTo(file, NEXT)
    upgraded = moved(file)
  })

  test('leaves a database that the next start completes to the schema of a fresh one', async () => {
    expect(fresh.version).toBe(THIS)
    expect(fresh.rows.length).toBeGreaterThan(20)
    let statement = 0
    for (let killed = true; killed; ) {
      await using folder = await temporaryFolder()
      const file = join(folder.path, 'agenthost.sqlite')
      statement++
      killed = await killBefore(statement, file, THIS)
      const store = await openSqliteStore(folder.path)
      await createAgent(store, await createEnvironment(store, 'default'), 'works')
      await store.close()
      expect(schemaOf(file), `killed before statement ${statement}`).toEqual(fresh)
    }
    // BEGIN, COMMIT and the version are statements too.
    const statements = (HISTORY[THIS] ?? []).map((migration) => migration({ identity: '', integer: '' }).length + 3)
    expect(statement - 1).toBe(statements.reduce((sum, count) => sum + count))
  })

  test('leaves the old data or the moved data, never a mixture, and the next start completes it', async () => {
    expect(upgraded.labels.map(({ label }) => label)).toEqual(['a', 'b', 'c', 'd', 'a'])
    expect(upgraded.schema.version).toBe(NEXT)
    let statement = 0
    for (let killed = true; killed; ) {
      await using folder = await temporaryFolder()
      const file = join(folder.path, 'agenthost.sqlite')
      await fillThisVersion(folder.path)
      statement++
      killed = await killBefore(statement, file, NEXT)
      // What a kill leaves is the old schema as a whole: the last statement is the commit.
      if (killed) expect(schemaOf(file), `killed before statement ${statement}`).toEqual(fresh)
      migrateTo(file, NEXT)
      expect(moved(file), `killed before statement ${statement}`).toEqual(upgraded)
    }
    expect(statement - 1).toBe(9)
  })

  test('leaves a database that may be killed again and again on its way', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'agenthost.sqlite')
    for (const statement of [1, 40, 12, 3, 25]) await killBefore(statement, file, NEXT)
    migrateTo(file, NEXT)
    expect(schemaOf(file)).toEqual(upgraded.schema)
    expect(query(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })
})

test('a database from before tools were kept loses nothing, and its servers have to be asked again', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'agenthost.sqlite')
  createPrivateFile(file)
  migrateTo(file, 2)
  const before = new DatabaseSync(file)
  before.exec(VERSION_2_DATA)
  before.close()
  const store = await openSqliteStore(folder.path)
  try {
    expect(await store.servers.ofEnvironment(1)).toEqual([
      { id: 7, name: 'files', config_hash: 'h', listed_hash: null, status: 'up', tools_count: 1 },
    ])
    expect(await store.tools.ofEnvironment(1)).toMatchObject([
      { id: 9, name: 'read', server: 'files', own_name: 'read' },
    ])
    expect(await store.runs.find(3)).toMatchObject({ task: 'Do it', status: 'running', phase: 'executing' })
    const run = await claim(store, 3, 'two')
    expect(run).toMatchObject({ toolset: null, steps: [{ key: '1' }], messages: [{ content: 'Do it' }] })
    await record(store, run, { toolset: { hash: 'offered', tools: '[]' } })
    expect((await claim(store, 3, 'three')).toolset).toEqual([])
    await list(store, 1, 'files', ['write', 'read'], { config_hash: 'h' })
    expect(await idsByName(store, 1)).toEqual({ read: 9, write: 10 })
    expect(await store.servers.ofEnvironment(1)).toMatchObject([{ listed_hash: 'h', tools_count: 2 }])
  } finally {
    await store.close()
  }
  expect(query(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(query(file, 'PRAGMA foreign_key_check')).toEqual([])
})

test('opening an up-to-date database runs no statement', async () => {
  await using folder = await temporaryFolder()
  await fillThisVersion(folder.path)
  const db = openWriter(join(folder.path, 'agenthost.sqlite'))
  const statements: string[] = []
  migrate(db, { onStatement: (statement) => statements.push(statement) })
  db.close()
  expect(statements).toEqual([])
})

test('a newer schema is refused with exit code 6, its file stays byte for byte, and the folder is free again', async () => {
  await using temporary = await temporaryFolder()
  const folder = join(temporary.path, 'data')
  mkdirSync(folder, { mode: 0o700 })
  const file = join(folder, 'agenthost.sqlite')
  await fillThisVersion(folder)
  migrateTo(file, NEXT)
  const before = readFileSync(file)
  const message = expect.stringContaining(`schema ${NEXT}; this program knows ${THIS}`)
  const expected = { name: 'StartError', exitCode: 6, message }
  await expect(openSqliteStore(folder)).rejects.toMatchObject(expected)
  await expect(openSqliteStore(folder)).rejects.toMatchObject(expected)
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(readdirSync(folder).filter((name) => /pid|wal|shm/.test(name))).toEqual([])
})
