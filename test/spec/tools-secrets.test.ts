// Secrets of tool servers: used where they belong, shown nowhere. And nobody but the files starts a process.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { type AppParts, startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, startRun } from '../support/run-calls.ts'
import { sync } from '../support/sync-calls.ts'
import { serverFile, toolServer } from '../support/tool-server/files.ts'
import { proves } from './proves.ts'

const SECRET = 'hunter2-9f8e7d6c5b4a'

/** A log whose lines a test can read. */
function readableLog(): { log: NonNullable<AppParts['log']>; lines: string[] } {
  const lines: string[] = []
  return { log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }), lines }
}

const serverNamed = async (app: TestApp, name: string) =>
  (await app.api('GET', '/mcp-servers')).body.data.find((server: { name: string }) => server.name === name)

describe('variables', () => {
  proves('tools.variable-missing', 'a missing one marks that server down with its name, and nothing else', async () => {
    await using app = await startApp()
    const good = await toolServer(app, 'good', 'fine')
    const needy = { ...good.entry, env: { KEY: '${NOBODY_SET_THIS}' } }
    await app.put('default/servers.json', serverFile({ needy, good: good.entry }))
    const report = await sync(app)
    expect(report.errors).toEqual([{ server: 'needy', message: expect.stringContaining('NOBODY_SET_THIS') }])
    expect(await serverNamed(app, 'needy')).toMatchObject({
      status: 'down',
      error: expect.stringContaining('NOBODY_SET_THIS'),
    })
    expect(await serverNamed(app, 'good')).toMatchObject({ status: 'up', error: null })
    const { id } = await createAgent(app)
    expect(await endedRun(app, await startRun(app, id, 'call fine {}'))).toMatchObject({ status: 'completed' })
  })

  proves(
    'tools.variables',
    'they come from variables.yml, then from the environment of the service, then the default',
    async () => {
      await using app = await startApp({ FROM_BOTH: 'outer', FROM_OUTSIDE: 'outside' })
      const server = await toolServer(app, 'one', 'echo')
      const label = '${FROM_BOTH} ${FROM_OUTSIDE} ${FROM_NOWHERE:-fallback}'
      await app.put('default/variables.yml', 'FROM_BOTH: in\n')
      await app.put('default/servers.json', serverFile({ one: { ...server.entry, env: { LABEL: label } } }))
      await sync(app)
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, 'call echo {}'))
      expect(JSON.parse(String(run.steps[1]?.output)).label).toBe('in outside fallback')
    },
  )

  test('a change of variables.yml counts at the next sync', async () => {
    await using app = await startApp()
    const server = await toolServer(app, 'one', 'echo')
    await app.put('default/servers.json', serverFile({ one: { ...server.entry, env: { LABEL: '${X:-none}' } } }))
    const { id } = await createAgent(app)
    const label = async () => {
      const run = await endedRun(app, await startRun(app, id, 'call echo {}'))
      return JSON.parse(String(run.steps[1]?.output)).label
    }
    await sync(app)
    expect(await label()).toBe('none')
    await app.put('default/variables.yml', 'X: four\n')
    await sync(app)
    expect(await label()).toBe('four')
  })
})

describe('secrets', () => {
  proves('tools.secrets-masked', 'no answer, log line or stored row has one, whatever the server says', async () => {
    const { log, lines } = readableLog()
    await using app = await startApp({ OUTER_TOKEN: `outer-${SECRET}` }, { log })
    const leaky = `process.stderr.write('the password is ' + process.env.PASSWORD + '\\n')
      if (process.env.DIE) process.exit(1)`
    const server = await toolServer(app, 'talks', 'echo')
    await app.put('default/variables.yml', `PASSWORD: ${SECRET}\n`)
    await app.put(
      'default/servers.json',
      serverFile({
        dies: { command: process.execPath, args: ['-e', leaky], env: { PASSWORD: '${PASSWORD}', DIE: '1' } },
        gone: { url: `http://127.0.0.1:1/?api_key=${SECRET}`, headers: { Authorization: 'Bearer ${OUTER_TOKEN}' } },
        talks: { ...server.entry, args: [...server.entry.args, '--token', SECRET], env: { LABEL: '${PASSWORD}' } },
      }),
    )
    await sync(app)
    const { id } = await createAgent(app)
    const task = `call echo {}\ncall echo {"error": "refused ${SECRET.slice(0, 3)}"}`
    await endedRun(app, await startRun(app, id, task))
    const seen = await Promise.all(
      ['/mcp-servers', '/tools', '/environments/default', '/runs/1', '/health'].map(async (path) =>
        JSON.stringify((await app.api('GET', path)).body),
      ),
    )
    const database = await readFile(join(app.home, 'data/agenthost.sqlite-wal'), 'latin1')
    expect([...seen, ...lines, database].filter((text) => text.includes(SECRET))).toEqual([])
    expect((await serverNamed(app, 'dies')).error).toContain('the password is ••••')
    expect((await serverNamed(app, 'talks')).args).toContain('••••')
    expect((await serverNamed(app, 'gone')).url).not.toContain(SECRET)
  })
})

describe('secrets of others', () => {
  proves('tools.secrets-masked', 'a value of variables.yml is masked whichever server shows it', async () => {
    await using app = await startApp()
    const server = await toolServer(app, 'one', 'echo')
    await app.put('default/variables.yml', `OF_ANOTHER_SERVER: ${SECRET}\n`)
    await app.put('default/servers.json', serverFile({ one: server.entry }))
    await sync(app)
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, `call echo {"found": "${SECRET}"}`))
    expect(String(run.steps[1]?.output)).toContain('••••')
    expect(String(run.steps[1]?.output)).not.toContain(SECRET)
  })
})

describe('commands', () => {
  proves('tools.commands-only-from-files', 'nothing over REST can name one', async () => {
    await using app = await startApp()
    const entry = { mcpServers: { evil: { command: 'touch', args: ['/tmp/evil'] } } }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await app.api(method, '/mcp-servers', entry)).status).toBe(405)
      expect((await app.api(method, '/tools', entry)).status).toBe(405)
      expect((await app.api(method, '/mcp-servers/1', entry)).status).toBe(404)
    }
    for (const field of ['command', 'args', 'mcpServers', 'mcp_servers']) {
      const body = { name: 'a', prompt: 'Help.', [field]: entry }
      expect((await app.api('POST', '/agents', body)).status).toBe(400)
    }
    expect((await app.api('POST', '/environments/default/sync', entry)).status).toBe(400)
    expect((await app.api('GET', '/mcp-servers')).body.data).toEqual([])
  })

  proves('tools.commands-only-from-files', 'the header of a prompt file cannot either', async () => {
    await using app = await startApp()
    const header = 'mcpServers:\n  evil:\n    command: touch\n    args: [/tmp/evil]'
    await app.put('default/agents/x.prompt', `---\n${header}\n---\nHelp.`)
    await sync(app)
    expect((await app.api('GET', '/mcp-servers')).body.data).toEqual([])
  })
})
