// Prompt files are other people's files: what they contain and how they are kept is theirs, whatever the API changes.
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { agentNamed, agentsFolder, sync } from '../support/sync-calls.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const named = async (app: TestApp, name: string) => {
  const agent = await agentNamed(app, name)
  if (!agent) throw new Error(`there is no agent ${name}`)
  return agent
}

test('a folder that cannot be listed removes no agent', async () => {
  await using app = await startApp()
  await app.put('default/agents/kept.prompt', 'Hi')
  await sync(app)
  const { id } = await named(app, 'kept')
  const folder = agentsFolder(app)
  await rename(folder, `${folder}-aside`)

  await writeFile(folder, 'a file where the folder was')
  expect(await sync(app)).toMatchObject({
    removed: [],
    errors: [{ file: 'default/agents', message: 'is not a folder' }],
  })
  await rm(folder)
  await symlink('agents', folder)
  expect(await sync(app)).toMatchObject({ removed: [], errors: [{ message: 'leads in a circle' }] })
  await rm(folder)
  await rename(`${folder}-aside`, folder)
  expect(await sync(app)).toMatchObject({ unchanged: ['kept'], errors: [] })
  expect(await named(app, 'kept')).toMatchObject({ id, version: 1 })
})

test('an agents folder that was swapped for a link out of the home loses no file through DELETE or PUT', async () => {
  await using app = await startApp()
  await using outside = await temporaryFolder()
  await app.put('default/agents/mine.prompt', 'Hi')
  await sync(app)
  const { id } = await named(app, 'mine')
  await writeFile(join(outside.path, 'mine.prompt'), 'not yours')
  await rm(agentsFolder(app), { recursive: true })
  await symlink(outside.path, agentsFolder(app))

  expect((await app.api('PUT', `/agents/${id}`, { notify: true })).status).toBe(409)
  expect((await app.api('DELETE', `/agents/${id}`)).status).toBe(409)
  expect(await readFile(join(outside.path, 'mine.prompt'), 'utf8')).toBe('not yours')
})

test('an edit keeps the mode of the file, and leaves no draft', async () => {
  await using app = await startApp()
  await app.put('default/agents/secretive.prompt', 'Hi')
  await chmod(join(agentsFolder(app), 'secretive.prompt'), 0o600)
  await sync(app)
  const { id } = await named(app, 'secretive')
  expect((await app.api('PUT', `/agents/${id}`, { notify: true })).status).toBe(200)
  expect((await stat(join(agentsFolder(app), 'secretive.prompt'))).mode & 0o777).toBe(0o600)
  expect(await readdir(agentsFolder(app))).toEqual(['secretive.prompt'])
})

test('variables that a person declared for later stay in the file', async () => {
  await using app = await startApp()
  await app.put(
    'default/agents/plans.prompt',
    '---\nvariables:\n  later: { description: precious text }\n  now: { default: a }\n---\nSay {{now}}',
  )
  await sync(app)
  const { id } = await named(app, 'plans')
  const answer = await app.api('PUT', `/agents/${id}`, { prompt: 'Say {{now}} and {{more}}' })
  expect(answer.body.data.variables.map(({ name }: { name: string }) => name)).toEqual(['now', 'more'])
  expect(await readFile(join(agentsFolder(app), 'plans.prompt'), 'utf8')).toContain('precious text')
  expect(await sync(app)).toMatchObject({ unchanged: ['plans'], updated: [] })
})

test('a prompt too long for a file is a fault of the request, not of the file', async () => {
  await using app = await startApp()
  await app.put('default/agents/short.prompt', 'Hi')
  await sync(app)
  const { id } = await named(app, 'short')
  const answer = await app.api('PUT', `/agents/${id}`, { prompt: 'é'.repeat(262_144) })
  expect(answer.body.error).toMatchObject({ code: 'INVALID_REQUEST', details: [{ path: '/prompt' }] })
})

test('a directory in the place of a prompt file is told as it is', async () => {
  await using app = await startApp()
  await app.put('default/agents/odd.prompt', 'Hi')
  await sync(app)
  const { id } = await named(app, 'odd')
  await rm(join(agentsFolder(app), 'odd.prompt'))
  await mkdir(join(agentsFolder(app), 'odd.prompt'))
  const answer = await app.api('DELETE', `/agents/${id}`)
  expect(answer.body.error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('is not a file') })
})

test('whoever wants the name of a broken file waits until that file is mended', async () => {
  await using app = await startApp()
  await app.put('default/agents/one.prompt', '---\nname: aa\n---\nA')
  await app.put('default/agents/two.prompt', '---\nname: bb\n---\nB')
  await sync(app)
  const ids = { aa: (await named(app, 'aa')).id, bb: (await named(app, 'bb')).id }
  await app.put('default/agents/one.prompt', '---\nname: bb\n---\nA')
  await app.put('default/agents/two.prompt', '---\nname: [\n---\nB')

  const report = await sync(app)
  expect(report).toMatchObject({ created: [], updated: [], removed: [] })
  expect(report.errors).toHaveLength(2)

  await app.put('default/agents/two.prompt', '---\nname: aa\n---\nB')
  expect((await sync(app)).errors).toEqual([])
  expect({ aa: (await named(app, 'aa')).id, bb: (await named(app, 'bb')).id }).toEqual(ids)
})

test('three thousand prompt files are read with few of them open at a time', { timeout: 60_000 }, async () => {
  await using app = await startApp()
  await mkdir(agentsFolder(app), { recursive: true })
  const names = Array.from({ length: 3000 }, (_, index) => `agent-${index}`)
  await Promise.all(names.map((name) => writeFile(join(agentsFolder(app), `${name}.prompt`), 'Hi')))
  let most = 0
  const watch = setInterval(async () => {
    most = Math.max(most, (await readdir('/proc/self/fd')).length)
  }, 1)
  const report = await sync(app)
  clearInterval(watch)
  expect(report.created).toHaveLength(3000)
  expect(report.errors).toEqual([])
  expect(most).toBeLessThan(150)
})
