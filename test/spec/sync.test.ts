// A sync brings the files of a folder into the catalog: what it reports, what it changes, what it never touches.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { agentNamed, listAgents, namedPrompt, promptPath, putPrompt, sync } from '../support/sync-calls.ts'
import { proves } from './proves.ts'

const NOTHING = { dry_run: false, created: [], updated: [], removed: [], unchanged: [], errors: [] }
describe('a sync', () => {
  proves(['sync.answer', 'sync.created', 'sync.unchanged'], 'reports what is new and what is as it was', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', 'First.')
    await putPrompt(app, 'b.prompt', namedPrompt('Bee'))
    await putPrompt(app, 'notes.txt', 'no prompt')
    await putPrompt(app, '.hidden.prompt', 'hidden')
    expect(await sync(app)).toEqual({ ...NOTHING, created: ['a', 'Bee'] })
    expect(await agentNamed(app, 'a')).toMatchObject({ prompt: 'First.', source: 'file', version: 1 })
    expect(await sync(app)).toEqual({ ...NOTHING, unchanged: ['a', 'Bee'] })
    expect((await listAgents(app)).map(({ version }) => version)).toEqual([1, 1])
  })

  proves(
    ['sync.updated', 'sync.unchanged'],
    'makes a version of what changed in meaning, and only of that',
    async () => {
      await using app = await startApp()
      await putPrompt(app, 'a.prompt', 'First.')
      await putPrompt(app, 'b.prompt', 'Second.')
      await sync(app)
      const before = await agentNamed(app, 'a')
      await putPrompt(app, 'a.prompt', '---\nmax_steps: 3\n---\nChanged.\n')
      await putPrompt(app, 'b.prompt', '---\n# only a comment\nmodel:\n---\nSecond.\n')
      expect(await sync(app)).toEqual({ ...NOTHING, updated: ['a'], unchanged: ['b'] })
      expect(await agentNamed(app, 'a')).toMatchObject({ id: before?.id, prompt: 'Changed.', max_steps: 3, version: 2 })
      expect(await agentNamed(app, 'b')).toMatchObject({ version: 1 })
    },
  )

  proves('sync.removed', 'removes an agent whose file is gone', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', 'x')
    await putPrompt(app, 'b.prompt', 'y')
    await sync(app)
    const gone = await agentNamed(app, 'a')
    await rm(promptPath(app, 'a.prompt'))
    expect(await sync(app)).toEqual({ ...NOTHING, removed: ['a'], unchanged: ['b'] })
    expect(await app.api('GET', `/agents/${gone?.id}`)).toMatchObject({ status: 404 })
    expect(await sync(app)).toEqual({ ...NOTHING, unchanged: ['b'] })
  })

  proves('sync.only-file-agents', 'leaves agents of the API alone', async () => {
    await using app = await startApp()
    const api = await createAgent(app, { name: 'mine' })
    await putPrompt(app, 'a.prompt', 'x')
    expect(await sync(app)).toEqual({ ...NOTHING, created: ['a'] })
    await rm(promptPath(app, 'a.prompt'))
    expect(await sync(app)).toEqual({ ...NOTHING, removed: ['a'] })
    expect(await listAgents(app)).toEqual([api])
  })

  proves(['sync.only-file-agents', 'sync.bad-file'], 'does not take over the name of an agent of the API', async () => {
    await using app = await startApp()
    const api = await createAgent(app, { name: 'mine' })
    await putPrompt(app, 'mine.prompt', 'From the file.')
    const report = await sync(app)
    expect(report).toMatchObject({ ...NOTHING, errors: [{ file: 'default/agents/mine.prompt' }] })
    expect(report.errors[0].message).toContain(`${api.id}`)
    expect(await listAgents(app)).toEqual([api])
  })

  proves('sync.file-is-truth', 'takes the file over what the database holds', async () => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', '---\nmodel: gpt-5\n---\nFile.')
    await sync(app)
    const { id } = (await agentNamed(app, 'a')) as { id: number }
    await app.api('PUT', `/agents/${id}`, { prompt: 'API.', enabled: false })
    await putPrompt(app, 'a.prompt', 'File again.')
    expect(await sync(app)).toMatchObject({ updated: ['a'] })
    expect(await agentNamed(app, 'a')).toMatchObject({
      id,
      prompt: 'File again.',
      enabled: true,
      model: null,
      version: 3,
    })
  })
})

describe('a bad file', () => {
  proves('sync.bad-file', 'is named with its reason and stops nothing', async () => {
    await using app = await startApp()
    await putPrompt(app, 'good.prompt', 'x')
    await putPrompt(app, 'yaml.prompt', '---\nname: [\n---\nx')
    await putPrompt(app, 'template.prompt', 'Hello {{')
    await putPrompt(app, '-name.prompt', 'x')
    await putPrompt(app, 'large.prompt', 'x'.repeat(600 * 1024))
    await writeFile(promptPath(app, 'latin1.prompt'), Buffer.from('Grüße', 'latin1'))
    await mkdir(promptPath(app, 'folder.prompt'))
    await symlink('/nonexistent', promptPath(app, 'dangling.prompt'))
    await putPrompt(app, '../../../outside.prompt', 'secret')
    await symlink(join(app.home, 'outside.prompt'), promptPath(app, 'link.prompt'))
    await putPrompt(app, 'twin1.prompt', namedPrompt('Twin'))
    await putPrompt(app, 'twin2.prompt', namedPrompt('Twin'))
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
    expect(await listAgents(app)).toHaveLength(2)
  })

  const spoilt: [what: string, spoil: (app: TestApp) => Promise<void>][] = [
    ['is no longer YAML', (app) => putPrompt(app, 'a.prompt', '---\nname: [\n---\nx')],
    ['is no longer a template', (app) => putPrompt(app, 'a.prompt', 'Hello {{')],
    ['is too large', (app) => putPrompt(app, 'a.prompt', 'x'.repeat(600 * 1024))],
    ['takes the name of another file', (app) => putPrompt(app, 'a.prompt', namedPrompt('b'))],
    ['takes the name of an agent of the API', (app) => putPrompt(app, 'a.prompt', namedPrompt('mine'))],
    [
      'became a link to the outside',
      async (app) => {
        await putPrompt(app, '../../../outside.prompt', 'secret')
        await rm(promptPath(app, 'a.prompt'))
        await symlink(join(app.home, 'outside.prompt'), promptPath(app, 'a.prompt'))
      },
    ],
  ]

  test.each(spoilt)('that %s keeps its agent as it was [sync.bad-file]', async (_what, spoil) => {
    await using app = await startApp()
    await putPrompt(app, 'a.prompt', 'Good.')
    await putPrompt(app, 'b.prompt', 'Other.')
    await createAgent(app, { name: 'mine' })
    await sync(app)
    const before = await listAgents(app)
    await spoil(app)
    const report = await sync(app)
    expect(report).toMatchObject({ created: [], updated: [], removed: [] })
    expect(report.errors).toHaveLength(1)
    expect(await listAgents(app)).toEqual(before)
    await rm(promptPath(app, 'a.prompt'))
    await putPrompt(app, 'a.prompt', 'Good again.')
    expect(await sync(app)).toMatchObject({ updated: ['a'], errors: [] })
  })
})
