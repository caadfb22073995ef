// Agents that come from prompt files: what a file says, and what an edit through the API makes of it.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { outcome, refusal } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const FILE = `---
# Owned by the ops team.
model: openai/gpt-5 # cheap enough
description: 'Watches disks'
tools: [df, du]
x-team: ops # not ours
variables:
  host:
    description: Which machine
    default: localhost
    x-kind: name
---

Look at {{host}}.
`

const folder = (app: TestApp) => join(app.home, 'environments/default/agents')
const read = (app: TestApp, file = 'disk.prompt') => readFile(join(folder(app), file), 'utf8')
const sync = async (app: TestApp) => (await app.api('POST', '/environments/default/sync')).body.data

async function fileAgent(app: TestApp, text = FILE) {
  await app.put('default/agents/disk.prompt', text)
  expect(await sync(app)).toMatchObject({ errors: [] })
  return (await app.api('GET', '/agents')).body.data[0]
}

describe('a prompt file', () => {
  proves(['files.place', 'agents.source', 'files.spec-keys'], 'makes an agent of its name', async () => {
    await using app = await startApp()
    expect(await fileAgent(app, '---\nmodel: gpt-5\nnotify: true\ntools: [a, b]\n---\nBody.\n')).toMatchObject({
      ...{ name: 'disk', prompt: 'Body.', source: 'file', environment: 'default' },
      ...{ model: 'gpt-5', notify: true, tools: ['a', 'b'], version: 1 },
    })
  })

  proves('files.place', 'needs no front matter', async () => {
    await using app = await startApp()
    expect(await fileAgent(app, 'Just a prompt.\n')).toMatchObject({
      name: 'disk',
      prompt: 'Just a prompt.',
      model: null,
    })
  })

  proves(['files.more-keys', 'files.variables-key'], 'takes every setting', async () => {
    await using app = await startApp()
    const header = [
      ...['name: Disk watcher', 'description: Watches', 'enabled: false', 'max_steps: 4', 'timeout_seconds: 30'],
      ...['max_concurrency: 1', 'variables:', '  host: { description: Which, default: here }', '  depth: 3'],
    ]
    expect(await fileAgent(app, `---\n${header.join('\n')}\n---\n{{host}} {{depth}} {{more}}`)).toMatchObject({
      ...{ name: 'Disk watcher', description: 'Watches', enabled: false, max_steps: 4, timeout_seconds: 30 },
      max_concurrency: 1,
      variables: [
        { name: 'host', required: false, default: 'here', description: 'Which' },
        { name: 'depth', required: false, default: '3', description: null },
        { name: 'more', required: true, default: null, description: null },
      ],
    })
  })

  const broken: [what: string, text: string][] = [
    ['a custom tag', '---\nname: !!js/function x\n---\nBody'],
    ['TOML', '---toml\nname = "x"\n---\nBody'],
    ['broken YAML', '---\nname: [\n---\nBody'],
    ['no closing fence', '---\nname: x\nBody'],
    ['a wrong type', '---\nmax_steps: many\n---\nBody'],
    ['a value out of range', '---\nmax_steps: 1000000\n---\nBody'],
    ['a bad name', '---\nname: a/b\n---\nBody'],
    ['a key twice', '---\nname: a\nname: b\n---\nBody'],
    ['too many aliases', `---\na: &a [1]\nb: [${Array(20).fill('*a').join(', ')}]\n---\nBody`],
    ['an empty prompt', '---\nname: x\n---\n'],
    ['a broken template', 'Hello {{'],
    ['a NUL', 'Hello \0'],
  ]

  proves('files.yaml-only', 'that is broken in any way is an error of itself alone', async () => {
    await using app = await startApp()
    for (const [index, [, text]] of broken.entries()) await app.put(`default/agents/bad${index}.prompt`, text)
    await app.put('default/agents/good.prompt', 'Help.')
    const report = await sync(app)
    const refused = report.errors.map(({ file }: { file: string }) => file)
    for (const [index, [what]] of broken.entries()) {
      expect.soft(refused, what).toContain(`default/agents/bad${index}.prompt`)
    }
    expect(report.created).toEqual(['good'])
  })

  proves(
    ['files.yaml-only', 'files.size-limit'],
    'that is no YAML, or too large, is an error of that file',
    async () => {
      await using app = await startApp()
      await app.put('default/agents/tag.prompt', '---\nname: !!js/function x\n---\nBody')
      await app.put('default/agents/large.prompt', 'x'.repeat(513 * 1024))
      await app.put('default/agents/header.prompt', `---\ndescription: ${'x'.repeat(70_000)}\n---\nBody`)
      await app.put('default/agents/good.prompt', 'x'.repeat(200 * 1024))
      const report = await sync(app)
      expect(report.created).toEqual(['good'])
      const files = report.errors.map(({ file }: { file: string }) => file)
      expect(files).toEqual(['header', 'large', 'tag'].map((name) => `default/agents/${name}.prompt`))
      expect(report.errors[1].message).toMatch(/KiB/)
    },
  )
})

describe('an edit through the API', () => {
  proves(['files.write-back', 'files.edits-keep'], 'changes the lines it means and no other', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    const put = await app.api('PUT', `/agents/${id}`, { description: 'Watches all disks', max_steps: 9 })
    expect(put).toMatchObject({ status: 200, body: { data: { version: 2, source: 'file', max_steps: 9 } } })
    const lines = (await read(app)).split('\n')
    const before = FILE.split('\n')
    expect(before.filter((line) => !lines.includes(line))).toEqual(["description: 'Watches disks'"])
    expect(lines.filter((line) => !before.includes(line))).toEqual(["description: 'Watches all disks'", 'max_steps: 9'])
    expect(await sync(app)).toMatchObject({ updated: [], unchanged: ['disk'] })
  })

  proves('files.write-back', 'keeps file and record the same, whatever was changed', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    const changes = [
      { prompt: 'Two\nlines with {{host}} and {{more}}.' },
      { prompt: '---\nlooks like a fence\n---\n' },
      { prompt: 'Carriage\r\nreturns\rhere' },
      { prompt: '\n\nempty lines around\n\n' },
      { prompt: '{{host}}', variables: [{ name: 'host', default: 'a: b # c', description: 'multi\nline' }] },
      { tools: [], model: null },
      { tools: null },
      { tools: ['*x', '&y', 'no', '1'] },
      { description: '"quotes" and: colons # and hashes' },
      { description: '' },
      { enabled: false, notify: true, max_concurrency: 3 },
      { enabled: true, notify: false, max_concurrency: null },
      { name: 'null' },
      { name: 'Other name' },
    ]
    for (const change of changes) {
      const { status, body } = await app.api('PUT', `/agents/${id}`, change)
      expect(status, JSON.stringify(change)).toBe(200)
      expect(await sync(app), JSON.stringify(change)).toMatchObject({
        updated: [],
        unchanged: [body.data.name],
        errors: [],
      })
      expect((await app.api('GET', `/agents/${id}`)).body.data).toEqual(body.data)
    }
    expect(await read(app)).toContain('x-team: ops # not ours')
    expect(await readdir(folder(app))).toEqual(['disk.prompt'])
  })

  proves('files.edits-keep', 'keeps comments and unknown keys over many edits', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    for (const model of ['a/b', null, 'c/d']) {
      await app.api('PUT', `/agents/${id}`, { model, variables: [{ name: 'host', default: `${model}` }] })
    }
    const text = await read(app)
    for (const kept of ['# Owned by the ops team.', '# cheap enough', 'x-team: ops # not ours', 'x-kind: name']) {
      expect(text).toContain(kept)
    }
  })

  proves('files.write-back', 'starts from what the file says now, not from the last sync', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    await app.put('default/agents/disk.prompt', '---\nmax_steps: 5\n---\nNewer {{host}}.\n')
    const { body } = await app.api('PUT', `/agents/${id}`, { description: 'x' })
    expect(body.data).toMatchObject({ prompt: 'Newer {{host}}.', max_steps: 5, description: 'x', model: null })
    expect(await read(app)).toContain('Newer {{host}}.')
  })

  proves('files.write-back', 'that is refused leaves the file alone', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    await app.api('POST', '/agents', { name: 'taken', prompt: 'x' })
    const changes: [object, number][] = [
      [{ prompt: '{{' }, 400],
      [{ name: 'taken' }, 409],
      [{ max_steps: 0 }, 400],
    ]
    for (const [change, status] of changes) {
      expect(await app.api('PUT', `/agents/${id}`, change)).toMatchObject({ status })
      expect(await read(app)).toBe(FILE)
    }
  })

  const unchangeable: [what: string, text: string][] = [
    ['no longer YAML', '---\nname: [\n---\nBody'],
    ['no longer a template', 'Hello {{'],
    ['using an alias for the key', '---\nbase: &x hi\ndescription: *x\n---\nBody'],
  ]

  test.each(unchangeable)('of a file that is %s answers 409 and leaves it [files.write-back]', async (_what, text) => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    await app.put('default/agents/disk.prompt', text)
    const answer = await app.api('PUT', `/agents/${id}`, { description: 'new' })
    expect(outcome(answer)).toEqual(refusal(409, 'CONFLICT'))
    expect(answer.body.error.message).toContain('disk.prompt')
    expect(await read(app)).toBe(text)
  })

  test('of a file that is gone answers 409 and does not bring it back', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    await rm(join(folder(app), 'disk.prompt'))
    expect(outcome(await app.api('PUT', `/agents/${id}`, { description: 'x' }))).toEqual(refusal(409, 'CONFLICT'))
    expect(await readdir(folder(app))).toEqual([])
  })

  test('by two who come at once loses neither change', async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    const put = (body: object) => app.api('PUT', `/agents/${id}`, body)
    const answers = await Promise.all([put({ description: 'new' }), put({ max_steps: 7 }), put({ notify: true })])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await app.api('GET', `/agents/${id}`)).body.data).toMatchObject({
      description: 'new',
      max_steps: 7,
      notify: true,
    })
    expect(await sync(app)).toMatchObject({ unchanged: ['disk'] })
  })
})

proves('agents.delete-file', 'a removed file agent takes its file along and stays away', async () => {
  await using app = await startApp()
  const { id } = await fileAgent(app)
  await app.put('default/agents/other.prompt', 'Stay.')
  expect(await app.api('DELETE', `/agents/${id}`)).toMatchObject({ status: 200 })
  expect(await readdir(folder(app))).toEqual(['other.prompt'])
  expect(await sync(app)).toMatchObject({ created: ['other'], removed: [], errors: [] })
  expect(outcome(await app.api('GET', `/agents/${id}`))).toEqual(refusal(404, 'AGENT_NOT_FOUND'))
})

proves(
  ['agents.delete-file', 'running.ids-never-reused'],
  'a file put back makes a new agent with a new id',
  async () => {
    await using app = await startApp()
    const { id } = await fileAgent(app)
    await app.api('DELETE', `/agents/${id}`)
    expect((await fileAgent(app)).id).toBeGreaterThan(id)
  },
)
