// The embedded store does what every store does.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createAgent, createEnvironment } from './sample.ts'
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
