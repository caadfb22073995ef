// The frame of the command line: what goes to stdout, what to stderr, and the exit codes.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agenthost } from '../support/agenthost.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

proves(['cli.config', 'cli.exit-0-1'], 'config prints an aligned table with the home, secrets masked', async () => {
  await using home = await temporaryFolder()
  await writeFile(join(home.path, 'config.yaml'), 'notify:\n  webhook_url: https://me:canary@n.example/t\n')
  const env = { SVC_HOME: home.path, SVC_EVENTS_SECRET: 'canary', OPENAI_API_KEY: 'canary' }
  const { code, stdout, stderr } = await agenthost(['config', '--log-level', 'warn'], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(home.path)
  expect(stdout).toMatch(/^KEY +VALUE +SOURCE$/m)
  expect(stdout).toMatch(/^log_level +warn +flag$/m)
  expect(stdout).toMatch(/^notify\.webhook_url +https:\/\/••••@n\.example\/t +config\.yaml:2$/m)
  expect(stdout).toMatch(/^events\.secret +•••• +env SVC_EVENTS_SECRET$/m)
  expect(stdout).toMatch(/^ai\.keys\.openai +•••• +env OPENAI_API_KEY$/m)
  expect(stdout).not.toContain('canary')
})

proves('cli.config-json', 'config --json prints one object with the home and the values', async () => {
  await using home = await temporaryFolder()
  const { code, stdout, stderr } = await agenthost(['config', '--home', home.path, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    home: home.path,
    values: expect.arrayContaining([
      { key: 'api.port', value: 8585, source: 'default', description: expect.stringMatching(/./) },
    ]),
  })
})

proves('cli.exit-2', 'wrong usage exits with 2, says so on stderr and names what was meant', async () => {
  const wrong = [
    { args: ['confg'], says: 'Did you mean config?' },
    { args: ['serve', '--api-prot', '1'], says: 'Did you mean --api-port?' },
    { args: ['config', 'more'], says: 'too many arguments' },
    { args: ['serve', '--api-port', 'x'], says: '--api-port: api.port must be a whole number' },
    { args: [], says: 'Usage: agenthost' },
  ]
  const outcomes = await Promise.all(wrong.map(({ args }) => agenthost([...args], { env: { HOME: '/nonexistent' } })))
  expect(outcomes).toEqual(wrong.map(({ says }) => ({ code: 2, stdout: '', stderr: expect.stringContaining(says) })))
})

test('help and version go to stdout with exit code 0', async () => {
  const [help, version] = await Promise.all([agenthost(['serve', '--help']), agenthost(['--version'])])
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--insecure-no-auth') })
  expect(help.stdout).toContain('--home')
  expect(version).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

describe('a Node that is too old', () => {
  async function onOldNode(args: string[], more = '') {
    await using folder = await temporaryFolder()
    const disguise = join(folder.path, 'old-node.cjs')
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })\n`
    await writeFile(disguise, `${old}${more}`)
    return await agenthost(args, { node: ['--require', disguise], env: { HOME: folder.path } })
  }

  test('hands over to the one that the install carries, with its output and exit code', async () => {
    expect(await onOldNode(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d/), stderr: '' })
    expect(await onOldNode(['nonsense'])).toMatchObject({ code: 2, stdout: '' })
  })

  proves('cli.exit-0-1', 'without a carried one it says in two lines what to do and exits with 1', async () => {
    const outcome = await onOldNode(['--version'], `Object.defineProperty(process, 'arch', { value: 'none' })\n`)
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('npm ci') })
    expect(outcome.stderr.trimEnd().split('\n')).toHaveLength(2)
  })
})
