// A sync when files move, when a folder is missing, when nothing may change, at a start, and twice at once.
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Answer, startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { startService } from '../support/service-process.ts'
import {
  agentNamed,
  agentsFolder,
  listAgents,
  namedPrompt,
  promptPath,
  putPrompt,
  sync,
} from '../support/sync-calls.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const idOf = async (app: TestApp, name: string) => (await agentNamed(app, name))?.id

describe('a file that moved', () => {
  proves(['sync.unchanged', 'sync.file-is-truth'], 'with a name of its own is still the same agent', async () => {
    await using app = await startApp()
    await putPrompt(app, 'old.prompt', namedPrompt('Same'))
    await sync(app)
    const before = await listAgents(app)
    await rename(promptPath(app, 'old.prompt'), promptPath(app, 'new.prompt'))
    expect(await sync(app)).toMatchObject({ created: [], updated: [], removed: [], unchanged: ['Same'] })
    expect(await listAgents(app)).toEqual(before)
    await app.api('PUT', `/agents/${before[0]?.id}`, { description: 'edited' })
    expect(await readdir(agentsFolder(app))).toEqual(['new.prompt'])
  })

  proves('sync.updated', 'under the same file with another name is the same agent, renamed', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', namedPrompt('Before'))
    await sync(app)
    const id = await idOf(app, 'Before')
    await putPrompt(app, 'a.prompt', namedPrompt('After'))
    expect(await sync(app)).toMatchObject({ created: [], updated: ['After'], removed: [] })
    expect(await listAgents(app)).toMatchObject([{ id, name: 'After', version: 2 }])
  })

  proves(['sync.updated', 'sync.unchanged'], 'and another that swapped names with it are both kept', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', namedPrompt('One', 'first'))
    await putPrompt(app, 'b.prompt', namedPrompt('Two', 'second'))
    await sync(app)
    const [one, two] = [await idOf(app, 'One'), await idOf(app, 'Two')]
    await putPrompt(app, 'a.prompt', namedPrompt('Two', 'first'))
    await putPrompt(app, 'b.prompt', namedPrompt('One', 'second'))
    expect(await sync(app)).toMatchObject({ created: [], removed: [], errors: [] })
    expect((await listAgents(app)).map(({ id, name, prompt }) => [id, name, prompt])).toEqual([
      [one, 'One', 'second'],
      [two, 'Two', 'first'],
    ])
    await app.api('DELETE', `/agents/${one}`)
    expect(await readdir(agentsFolder(app))).toEqual(['a.prompt'])
    expect(await sync(app)).toMatchObject({ created: [], removed: [], unchanged: ['Two'] })
  })

  test('with all its neighbours one name further ends with the right prompts', async () => {
    await using app = await startApp()
    for (const n of [1, 2, 3]) await putPrompt(app, `${n}.prompt`, namedPrompt(`N${n}`, `prompt ${n}`))
    await sync(app)
    for (const n of [1, 2, 3]) await putPrompt(app, `${n}.prompt`, namedPrompt(`N${n + 1}`, `prompt ${n}`))
    expect(await sync(app)).toMatchObject({ errors: [] })
    expect((await listAgents(app)).map(({ name, prompt }) => `${name} ${prompt}`).sort()).toEqual([
      'N2 prompt 1',
      'N3 prompt 2',
      'N4 prompt 3',
    ])
    expect(await sync(app)).toMatchObject({ created: [], updated: [], removed: [], errors: [] })
  })

  test('to a name that differs in case alone is renamed', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', namedPrompt('name'))
    await sync(app)
    await putPrompt(app, 'a.prompt', namedPrompt('Name'))
    expect(await sync(app)).toMatchObject({ updated: ['Name'], created: [], removed: [], errors: [] })
  })
})

describe('a missing folder', () => {
  proves('sync.removed', 'removes nothing and says so', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', 'x')
    await sync(app)
    const before = await listAgents(app)
    await rm(join(app.home, 'environments/default'), { recursive: true })
    const report = await sync(app)
    expect(report).toMatchObject({
      removed: [],
      errors: [{ file: 'default', message: expect.stringMatching(/missing/) }],
    })
    expect(await listAgents(app)).toEqual(before)
    await putPrompt(app, 'a.prompt', 'x')
    expect(await sync(app)).toMatchObject({ unchanged: ['a'], errors: [] })
  })
})

/** Everything that a dry run could have changed. */
async function everything(app: TestApp) {
  const files = await readdir(join(app.home, 'environments'), { recursive: true })
  const times = files.map(async (file) => [file, (await stat(join(app.home, 'environments', file))).mtimeMs])
  const lists = ['/agents?limit=100', '/environments'].map(async (list) => (await app.api('GET', list)).body)
  return [await Promise.all(times), await Promise.all(lists)]
}

describe('a dry run', () => {
  proves(['sync.dry-run', 'sync.answer'], 'tells all and changes nothing', async () => {
    await using app = await startApp()
    await createAgent(app, { name: 'mine' })
    for (const name of ['kept', 'changed', 'gone', 'moved']) await putPrompt(app, `${name}.prompt`, namedPrompt(name))
    await sync(app)
    await putPrompt(app, 'changed.prompt', namedPrompt('changed', 'new'))
    await rm(promptPath(app, 'gone.prompt'))
    await rename(promptPath(app, 'moved.prompt'), promptPath(app, 'elsewhere.prompt'))
    await putPrompt(app, 'added.prompt', 'x')
    await putPrompt(app, 'bad.prompt', '{{')
    const before = await everything(app)
    const dry = await sync(app, { dry_run: true })
    expect(dry).toEqual({
      dry_run: true,
      created: ['added'],
      updated: ['changed'],
      removed: ['gone'],
      unchanged: ['moved', 'kept'],
      errors: [{ file: 'default/agents/bad.prompt', message: expect.any(String) }],
    })
    expect(await everything(app)).toEqual(before)
    expect(await sync(app, { dry_run: true })).toEqual(dry)
    expect(await sync(app, { dry_run: false })).toEqual({ ...dry, dry_run: false })
  })

  proves('sync.dry-run', 'of a new folder makes no environment', async () => {
    await using app = await startApp()
    await app.put('fresh/agents/a.prompt', 'x')
    const dry = await app.api('POST', '/environments/fresh/sync', { dry_run: true })
    expect(dry).toMatchObject({ status: 200, body: { data: { dry_run: true, created: ['a'] } } })
    expect(await app.api('GET', '/environments/fresh')).toMatchObject({ status: 404 })
  })

  proves('sync.dry-run', 'is asked for by true alone; without a body a sync is real', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', 'x')
    for (const dry_run of ['true', 1, null]) {
      expect(await app.api('POST', '/environments/default/sync', { dry_run })).toMatchObject({ status: 400 })
    }
    expect(await listAgents(app)).toEqual([])
    expect(await sync(app, {})).toMatchObject({ dry_run: false, created: ['a'] })
  })
})

describe('two at once', () => {
  proves('sync.answer', 'two syncs make one agent of a file and report it once', async () => {
    await using app = await startApp()
    for (let n = 0; n < 10; n++) await putPrompt(app, `a${n}.prompt`, 'x')
    const reports = await Promise.all([sync(app), sync(app), sync(app)])
    expect(reports.flatMap(({ created }) => created)).toHaveLength(10)
    expect(reports.flatMap(({ errors }) => errors)).toEqual([])
    expect((await listAgents(app)).map(({ version }) => version)).toEqual(Array(10).fill(1))
  })

  test('an edit and a sync lose nothing', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', namedPrompt('A'))
    await sync(app)
    const id = await idOf(app, 'A')
    await putPrompt(app, 'a.prompt', namedPrompt('A', 'From the file.'))
    const edit = app.api('PUT', `/agents/${id}`, { description: 'edited' })
    const [put1] = await Promise.all([edit, sync(app), sync(app)])
    expect(put1.status).toBe(200)
    expect(await listAgents(app)).toMatchObject([{ id, prompt: 'From the file.', description: 'edited' }])
    expect(await sync(app)).toMatchObject({ unchanged: ['A'] })
  })
})

proves(['sync.at-start', 'environments.new-folder'], 'a start syncs every folder in the background', async () => {
  await using home = await temporaryFolder()
  for (const [file, text] of [
    ['one/agents/a.prompt', 'x'],
    ['two/agents/b.prompt', 'y'],
    ['two/agents/bad.prompt', '{{'],
  ]) {
    const target = join(home.path, 'environments', file as string)
    await mkdir(join(target, '..'), { recursive: true })
    await writeFile(target, text as string)
  }
  await using service = await startService({ home: home.path })
  const get = async (what: string) => {
    const response = await fetch(`${service.api}/api/v1${what}`)
    return ((await response.json()) as Answer['body']).data
  }
  const synced = async () => {
    const all: { name: string; last_sync: object | null }[] = await get('/environments')
    return ['one', 'two'].every((name) => all.some((each) => each.name === name && each.last_sync))
  }
  while (!(await synced())) await delay(10)
  expect(await get('/agents')).toMatchObject([
    { name: 'a', environment: 'one', source: 'file' },
    { name: 'b', environment: 'two', source: 'file' },
  ])
  expect(await get('/environments/two')).toMatchObject({ last_sync: { status: 'error', changes: 1 } })
  expect(service.stderr()).toContain('bad.prompt')
})
