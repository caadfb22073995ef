/** What a durable write costs through the store, against the same statements on a bare node:sqlite handle. */
import { DatabaseSync } from 'node:sqlite'
import { DEFAULT_DEFINITION } from '../src/contract/agent.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

const BATCHES = 40
const TOGETHER = 100

/** Agents created per second through the store: handed over together, answered after the commit they share. */
export async function storeWrites(folder: string): Promise<number> {
  const store = await openSqliteStore(folder)
  const { id } = await store.write('ensureEnvironment', { name: 'bench', at: 0 })
  const create = (name: string) =>
    store.write('createAgent', {
      ...{ environment_id: id, source: 'api', file: null, at: 0 },
      definition: { ...DEFAULT_DEFINITION, tools: null, variables: [], name, prompt: 'Say {{what}}.' },
    })
  await create('warm')
  const began = performance.now()
  for (let batch = 0; batch < BATCHES; batch++) {
    await Promise.all(Array.from({ length: TOGETHER }, (_, index) => create(`agent-${batch}-${index}`)))
  }
  const perSecond = (BATCHES * TOGETHER * 1000) / (performance.now() - began)
  await store.close()
  return perSecond
}

/** The same rows with the same durability and the same commits, and nothing around them. */
export function bareWrites(folder: string): number {
  const db = new DatabaseSync(`${folder}/bare.sqlite`)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE agents (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, version INTEGER)')
  db.exec('CREATE TABLE versions (agent_id INTEGER, version INTEGER, prompt TEXT, PRIMARY KEY (agent_id, version))')
  const agent = db.prepare('INSERT INTO agents (name, version) VALUES (?, 1) RETURNING id')
  const version = db.prepare('INSERT INTO versions VALUES (?, 1, ?)')
  const began = performance.now()
  for (let batch = 0; batch < BATCHES; batch++) {
    db.exec('BEGIN IMMEDIATE')
    for (let index = 0; index < TOGETHER; index++) {
      version.run(agent.get(`agent-${batch}-${index}`)?.id as number, 'Say {{what}}.')
    }
    db.exec('COMMIT')
  }
  const perSecond = (BATCHES * TOGETHER * 1000) / (performance.now() - began)
  db.close()
  return perSecond
}
