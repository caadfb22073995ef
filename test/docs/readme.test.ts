// The README's tour, word for word, against a service that was just started.
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')

const shellBlock = (heading: string) => {
  const block = new RegExp(`## ${heading}\\n\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(README)?.[1]
  if (!block) throw new Error(`README.md has no shell block under "${heading}"`)
  return block
}

/** Comments dropped, lines joined at their backslash. */
const commands = (block: string) =>
  block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))

test('every command of the sixty seconds answers with success', async () => {
  await using folder = await temporaryFolder()
  await using service = await startService({ home: folder.path })
  const [api, agents] = [new URL(service.api).host, new URL(service.agents).host]
  await vi.waitFor(async () =>
    expect(await (await fetch(`${service.api}/api/v1/agents/1`)).json()).toMatchObject({ success: true }),
  )

  const tour = commands(shellBlock('Sixty seconds'))
  expect(tour.length).toBeGreaterThan(4)
  for (const command of tour) {
    const here = command.replaceAll('localhost:8585', api).replaceAll('localhost:8587', agents)
    const { stdout } = await promisify(execFile)('bash', ['-c', here])
    const isWebhook = command.includes('/execute')
    expect(JSON.parse(stdout), command).toMatchObject(
      isWebhook ? { status: 'running' } : { success: true, error: null },
    )
    if (command.includes('wait=')) expect(JSON.parse(stdout).data, command).toMatchObject({ status: 'completed' })
  }
})

test('every test that the docs name is there', () => {
  const root = join(import.meta.dirname, '../..')
  const named = globSync('docs/**/*.md', { cwd: root }).flatMap((page) => [
    ...readFileSync(join(root, page), 'utf8').matchAll(/test\/[\w/.-]+\.ts/g),
  ])
  expect(named.length).toBeGreaterThan(5)
  for (const [path] of named) expect(existsSync(join(root, path)), path).toBe(true)
})

test('every file that the README links to is there', () => {
  const links = [...README.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path]) => path as string)
  expect(links.length).toBeGreaterThan(5)
  for (const path of links)
    expect(() => readFileSync(join(import.meta.dirname, '../..', path)), path).not.toThrow(/ENOENT/)
})
