// A sync brings the files of a folder into the catalog: what it reports, what it changes, what it never touches.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const NOTHING = { dry_run: false, created: [], updated: [], removed: [], unchanged: [], errors: [] }
const folder = (app: TestApp) => join(app.home, 'environments/default/agents')
const path = (app: TestApp, file: string) => join(folder(app), file)
const put = (app: TestApp, file: string, text: string) => app.put(`default/agents/${file}`, text)
const named = (name: string, prompt = 'Help.') => `---\nname: ${name}\n---\n${prompt}\n`

async function sync(app: TestApp, body?: object) {
  const answer = await app.api('POST', '/environments/default/sync', body)
  expect(answer.status).toBe(200)
  return answer.body.data
}

async function agents(app: TestApp) {
  const { data } = (await app.api('GET', '/agents?limit=100')).body
  return data as { id: number; name: string; prompt: string; version: number; source: string }[]
}

const find = async (app: TestApp, name: string) => (await agents(app)).find((agent) => agent.name === name)

describe('a sync', () => {
  proves(['sync.answer', 'sync.created', 'sync.unchanged'], 'reports what is new and what is as it was', async () => {
    await using app = await startApp()
    await put(app, 'a.prompt', 'First.')
    await put(app, 'b.prompt', named('Bee'))
    await put(app, 'notes.txt', 'no prompt')
    await put(app, '.hidden.prompt', 'hidden')
    expect(await sync(app)).toEqual({ ...NOTHING, created: ['a', 'Bee'] })
    expect(await find(app, 'a')).toMatchObject({ prompt: 'First.', source: 'file', version: 1 })
    expect(await sync(app)).toEqual({ ...NOTHING, unchanged: ['a', 'Bee'] })
    expect((await agents(app)).map(({ version }) => version)).toEqual([1, 1])
  })

  proves(
    ['sync.updated', 'sync.unchanged'],
    'makes a version of what changed in meaning, and only of that',
    async () => {
      await using app = await startApp()
      await put(app, 'a.prompt', 'First.')
      await put(app, 'b.prompt', 'Second.')
      await sync(app)
      const before = await find(app, 'a')
      await put(app, 'a.prompt', '---\nmax_steps: 3\n---\nChanged.\n')
      await put(app, 'b.prompt', '---\n# only a comment\nmodel:\n---\nSecond.\n')
      expect(await sync(app)).toEqual({ ...NOTHING, updated: ['a'], unchanged: ['b'] })
      expect(await find(app, 'a')).toMatchObject({ id: before?.id, prompt: 'Changed.', max_steps: 3, version: 2 })
      expect(await find(app, 'b')).toMatchObject({ version: 1 })
    },
  )

  proves('sync.removed', 'removes an agent whose file is gone', async () => {
    await using app = await startApp()
    await put(app, 'a.prompt', 'x')
    await put(app, 'b.prompt', 'y')
    await sync(app)
    const gone = await find(app, 'a')
    await rm(path(app, 'a.prompt'))
    expect(await sync(app)).toEqual({ ...NOTHING, removed: ['a'], unchanged: ['b'] })
    expect(await app.api('GET', `/agents/${gone?.id}`)).toMatchObject({ status: 404 })
    expect(await sync(app)).toEqual({ ...NOTHING, unchanged: ['b'] })
  })

  proves('sync.only-file-agents', 'leaves agents of the API alone', async () => {
    await using app = await startApp()
    const api = await createAgent(app, { name: 'mine' })
    await put(app, 'a.prompt', 'x')
    expect(await sync(app)).toEqual({ ...NOTHING, created: ['a'] })
    await rm(path(app, 'a.prompt'))
    expect(await sync(app)).toEqual({ ...NOTHING, removed: ['a'] })
    expect(await agents(app)).toEqual([api])
  })

  proves(['sync.only-file-agents', 'sync.bad-file'], 'does not take over the name of an agent of the API', async () => {
    await using app = await startApp()
    const api = await createAgent(app, { name: 'mine' })
    await put(app, 'mine.prompt', 'From the file.')
    const report = await sync(app)
    expect(report).toMatchObject({ ...NOTHING, errors: [{ file: 'default/agents/mine.prompt' }] })
    expect(report.errors[0].message).toContain(`${api.id}`)
    expect(await agents(app)).toEqual([api])
  })

  proves('sync.file-is-truth', 'takes the file over what the database holds', async () => {
    await using app = await startApp()
    await put(app, 'a.prompt', '---\nmodel: gpt-5\n---\nFile.')
    await sync(app)
    const { id } = (await find(app, 'a')) as { id: number }
    await app.api('PUT', `/agents/${id}`, { prompt: 'API.', enabled: false })
    await put(app, 'a.prompt', 'File again.')
    expect(await sync(app)).toMatchObject({ updated: ['a'] })
    expect(await find(app, 'a')).toMatchObject({ id, prompt: 'File again.', enabled: true, model: null, version: 3 })
  })
})

describe('a bad file', () => {
  proves('sync.bad-file', 'is named with its reason and stops nothing', async () => {
    await using app = await startApp()
    await put(app, 'good.prompt', 'x')
    await put(app, 'yaml.prompt', '---\nname: [\n---\nx')
    await put(app, 'template.prompt', 'Hello {{')
    await put(app, '-name.prompt', 'x')
    await put(app, 'large.prompt', 'x'.repeat(600 * 1024))
    await writeFile(path(app, 'latin1.prompt'), Buffer.from('Grüße', 'latin1'))
    await mkdir(path(app, 'folder.prompt'))
    await symlink('/nonexistent', path(app, 'dangling.prompt'))
    await put(app, '../../../outside.prompt', 'secret')
    await symlink(join(app.home, 'outside.prompt'), path(app, 'link.prompt'))
    await put(app, 'twin1.prompt', named('Twin'))
    await put(app, 'twin2.prompt', named('Twin'))
    const report = await sync(app)
    expect(report.created).toEqual(['good', 'Twin'])
    const bad = ['-name', 'dangling', 'folder', 'large', 'latin1', 'link', 'template', 'twin2', 'yaml']
    expect(report.errors.map(({ file }: { file: string }) => file)).toEqual(
      bad.map((name) => `default/agents/${name}.prompt`),
    )
    for (const { message } of report.errors) {
      expect(message).toMatch(/\S/)
      expect(message).not.toContain('secret')
      // Where the home is on this machine is nobody's business over REST.
      expect(message).not.toContain(app.home)
    }
    expect(await agents(app)).toHaveLength(2)
  })

  const spoilt: [what: string, spoil: (app: TestApp) => Promise<void>][] = [
    ['is no longer YAML', (app) => put(app, 'a.prompt', '---\nname: [\n---\nx')],
    ['is no longer a template', (app) => put(app, 'a.prompt', 'Hello {{')],
    ['is too large', (app) => put(app, 'a.prompt', 'x'.repeat(600 * 1024))],
    ['takes the name of another file', (app) => put(app, 'a.prompt', named('b'))],
    ['takes the name of an agent of the API', (app) => put(app, 'a.prompt', named('mine'))],
    [
      'became a link to the outside',
      async (app) => {
        await put(app, '../../../outside.prompt', 'secret')
        await rm(path(app, 'a.prompt'))
        await symlink(join(app.home, 'outside.prompt'), path(app, 'a.prompt'))
      },
    ],
  ]

  test.each(spoilt)('that %s keeps its agent as it was [sync.bad-file]', async (_what, spoil) => {
    await using app = await startApp()
    await put(app, 'a.prompt', 'Good.')
    await put(app, 'b.prompt', 'Other.')
    await createAgent(app, { name: 'mine' })
    await sync(app)
    const before = await agents(app)
    await spoil(app)
    const report = await sync(app)
    expect(report).toMatchObject({ created: [], updated: [], removed: [] })
    expect(report.errors).toHaveLength(1)
    expect(await agents(app)).toEqual(before)
    await rm(path(app, 'a.prompt'))
    await put(app, 'a.prompt', 'Good again.')
    expect(await sync(app)).toMatchObject({ updated: ['a'], errors: [] })
  })
})
