// Agents and the tools of their environment: which they are offered, under which names, and what happens when one fails.
import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { calls, says, startModelServer } from '../support/model-server.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { sync } from '../support/sync-calls.ts'
import { serverFile, type ToolServer, toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'
import { proves } from './proves.ts'

/** Puts servers of these tools into the default environment and syncs it. */
async function withServers(app: TestApp, tools: Record<string, string[]>, more: object = {}): Promise<ToolServer[]> {
  const servers = await Promise.all(Object.entries(tools).map(([name, own]) => toolServer(app, name, ...own)))
  const entries = Object.keys(tools).map((name, n) => [name, { ...servers[n]?.entry, ...more }])
  await app.put('default/servers.json', serverFile(Object.fromEntries(entries)))
  await sync(app)
  return servers
}

const toolNames = async (app: TestApp): Promise<string[]> =>
  (await app.api('GET', '/tools')).body.data.map((tool: { name: string }) => tool.name)

/** The names that a run of this agent is offered, as the error about a wrong one lists them. */
async function offered(app: TestApp, agentId: number): Promise<string> {
  const run = await endedRun(app, await startRun(app, agentId, 'call there_is_no_such_tool {}'))
  return /Tools: (.*)/.exec(run.steps[1]?.error ?? '')?.[1] ?? ''
}

describe('which tools an agent has', () => {
  proves('tools.selection', 'all of its environment, those it names, or none', async () => {
    await using app = await startApp()
    await withServers(app, { one: ['a', 'b'], two: ['c'] })
    const all = await createAgent(app, { name: 'all' })
    const some = await createAgent(app, { name: 'some', tools: ['c', 'a'] })
    const none = await createAgent(app, { name: 'none', tools: [] })
    expect(await offered(app, all.id)).toBe('a, b, c')
    expect(await offered(app, some.id)).toBe('a, c')
    expect(await offered(app, none.id)).toBe('none')
  })

  proves('tools.selection', 'what is offered to the model is what it may call', async () => {
    await using model = await startModelServer([calls(['b', {}]), says('Done.')])
    await using app = await startApp({ SVC_AI_BASE_URL: model.url })
    const [server] = await withServers(app, { one: ['a', 'b'] })
    const { id } = await createAgent(app, { tools: ['a'] })
    const run = await endedRun(app, await startRun(app, id, 'Go.'))
    expect(model.requests[0]?.body.tools?.map((tool) => tool.function.name)).toEqual(['a'])
    expect(run.steps[1]).toMatchObject({
      name: 'b',
      status: 'error',
      error: expect.stringContaining("no tool named 'b'"),
    })
    expect(server?.starts()).toHaveLength(1)
  })

  test('a tool that is not to be had ends the run with TOOLS_UNAVAILABLE and the reason', async () => {
    await using app = await startApp()
    await app.put(
      'default/servers.json',
      serverFile({ bad: { command: process.execPath, args: ['-e', 'process.exit(7)'] } }),
    )
    await sync(app)
    const { id } = await createAgent(app, { tools: ['lookup'] })
    const { error } = await endedRun(app, await startRun(app, id, 'Go.'))
    expect(error?.code).toBe('TOOLS_UNAVAILABLE')
    expect(error?.message).toMatch(/lookup\. The server bad is not to be had: .*code 7/)
  })

  test('what an agent may have meant is said: a name that several servers have, one that is misspelt', async () => {
    await using app = await startApp()
    await withServers(app, { one: ['search', 'fetch_page'], two: ['search'] })
    const { id } = await createAgent(app, { tools: ['search', 'fetch_pages'] })
    const { error } = await endedRun(app, await startRun(app, id, 'Go.'))
    expect(error?.message).toContain('search (several servers have one; write one__search or two__search)')
    expect(error?.message).toContain('did you mean fetch_page?')
  })

  test('a server that lacks a variable, or is disabled, is named with the reason', async () => {
    await using app = await startApp()
    const { entry } = await toolServer(app, 'one', 'a')
    const entries = { needy: { ...entry, env: { KEY: '${NOT_SET}' } }, off: { ...entry, enabled: false } }
    await app.put('default/servers.json', serverFile(entries))
    await sync(app)
    const { id } = await createAgent(app, { tools: ['a'] })
    const { error } = await endedRun(app, await startRun(app, id, 'Go.'))
    expect(error?.message).toMatch(
      /needy is not to be had: variable NOT_SET.*off is not to be had: disabled in its file/,
    )
  })

  test('tools of one environment are not offered in another', async () => {
    await using app = await startApp()
    await withServers(app, { one: ['a'] })
    await app.put('other/agents/x.prompt', 'Help.')
    await app.api('POST', '/environments/other/sync')
    const { id } = await createAgent(app, { environment_id: 'other' })
    expect(await offered(app, id)).toBe('none')
  })
})

describe('names', () => {
  proves(
    'tools.own-name',
    'a name that two servers have is `<server>__<tool>` for both, a unique one stays',
    async () => {
      await using app = await startApp()
      await withServers(app, { one: ['search', 'only'], two: ['search'] })
      expect((await toolNames(app)).sort()).toEqual(['one__search', 'only', 'two__search'])
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, 'call two__search {"x": 1}'))
      expect(run.steps[1]).toMatchObject({ name: 'two__search', server: 'two', status: 'completed' })
      expect(JSON.parse(String(run.steps[1]?.output))).toMatchObject({ tool: 'search', input: { x: 1 } })
    },
  )

  proves(
    'tools.safe-names',
    'odd and long names become at most 64 safe characters, and still reach their tool',
    async () => {
      await using app = await startApp()
      await withServers(app, { one: ['get weather/täglich', 'x'.repeat(90)] })
      const names = await toolNames(app)
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(new Set(names).size).toBe(2)
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, names.map((name) => `call ${name} {}`).join('\n')))
      const reached = run.steps
        .filter(({ type }) => type === 'tool')
        .map(({ output }) => JSON.parse(String(output)).tool)
      expect(reached.sort()).toEqual(['get weather/täglich', 'x'.repeat(90)])
    },
  )

  proves(
    'tools.safe-names',
    '`__name` of an imported file means the tool, and so does `<server>__<tool>`',
    async () => {
      await using app = await startApp()
      await withServers(app, { one: ['search', 'only'] })
      const { id } = await createAgent(app, { tools: ['__search', 'one__only'] })
      expect(await offered(app, id)).toBe('only, search')
    },
  )

  test('a tool called notify gives way to the built-in one', async () => {
    await using app = await startApp()
    await withServers(app, { one: ['notify'] })
    expect(await toolNames(app)).toEqual(['one__notify'])
  })
})

describe('a run keeps the tools that it began with', () => {
  proves('tools.frozen', 'what a server adds or drops meanwhile counts for the next run', async () => {
    await using app = await startApp()
    const [server] = await withServers(app, { one: ['hold', 'old'] })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call hold {"ms": 1500}\ncall old {}\ncall late {}')
    await until('the first call is under way', async () => (await readRun(app, run)).steps.length > 1)
    await server?.offers('hold', 'late')
    await sync(app)
    expect((await toolNames(app)).sort()).toEqual(['hold', 'late'])
    const { steps } = await endedRun(app, run)
    expect(steps.find(({ name }) => name === 'old')).toMatchObject({ status: 'completed' })
    expect(steps.find(({ name }) => name === 'late')).toMatchObject({ status: 'error' })
    expect(await offered(app, id)).toBe('hold, late')
  })
})

describe('what fails is told to the model', () => {
  proves(
    'tools.error-is-answer',
    "a tool's error and a server that dies in the middle cost one answer, not the run",
    async () => {
      await using app = await startApp()
      const [server] = await withServers(app, { one: ['do'] })
      const { id } = await createAgent(app)
      const task = 'call do {"error": "out of paper"}\ncall do {"exit": 1}\ncall do {"n": 3}'
      const run = await endedRun(app, await startRun(app, id, task))
      expect(run.status).toBe('completed')
      const [failed, died, fine] = run.steps.filter(({ type }) => type === 'tool')
      expect(failed).toMatchObject({ status: 'error', output: 'out of paper' })
      expect(died).toMatchObject({ status: 'error', error: expect.stringContaining('code 1') })
      expect(fine).toMatchObject({ status: 'completed' })
      expect(server?.starts()).toHaveLength(2)
    },
  )

  proves('tools.timeout', 'a call over timeout_seconds is an error, and the run goes on', async () => {
    await using app = await startApp()
    await withServers(app, { one: ['do'] }, { timeout_seconds: 1 })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'call do {"ms": 20000}\ncall do {"n": 2}'))
    const [late, fine] = run.steps.filter(({ type }) => type === 'tool')
    expect(late).toMatchObject({ status: 'error', error: expect.stringMatching(/did not answer within 1 s/) })
    expect(fine).toMatchObject({ status: 'completed' })
    expect(run.status).toBe('completed')
  })

  proves('tools.cut', 'an answer over 256 kB is cut for the model, and the step keeps the whole', async () => {
    await using model = await startModelServer([calls(['do', { bytes: 600_000 }]), says('Read it.')])
    await using app = await startApp({ SVC_AI_BASE_URL: model.url })
    await withServers(app, { one: ['do'] })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Go.'))
    expect(String(run.steps[1]?.output)).toHaveLength(600_000)
    const read = model.requests[1]?.body.messages?.find(({ role }) => role === 'tool')?.content
    expect(String(read).length).toBeLessThan(256 * 1024 + 100)
    expect(String(read)).toContain('cut here')
  })
})

describe('a bad server', () => {
  const hanging = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], connect_timeout_seconds: 2 }

  proves(
    ['tools.bad-server-blocks-nobody', 'sync.bad-server'],
    'a sync reports it and does the rest; agents that do not need it do not wait for it',
    async () => {
      await using app = await startApp()
      const good = await toolServer(app, 'good', 'fine')
      await app.put('default/servers.json', serverFile({ hanging, good: good.entry }))
      await app.put('default/agents/filed.prompt', '---\ntools: [fine]\n---\nHelp.')
      const syncing = sync(app)
      const { id } = await createAgent(app, { name: 'made', tools: ['fine'] })
      await until('the good tool is there', async () => (await toolNames(app)).includes('fine'))
      const run = await endedRun(app, await startRun(app, id, 'call fine {}'))
      expect(run).toMatchObject({ status: 'completed', tool_calls_count: 1 })
      const report = await syncing
      expect(report.created).toEqual(['filed'])
      expect(report.errors).toEqual([{ server: 'hanging', message: expect.stringMatching(/\S/) }])
      const { last_sync } = (await app.api('GET', '/environments/default')).body.data
      expect(last_sync).toMatchObject({ status: 'error', errors: report.errors })
    },
  )

  test('an agent that wants everything runs without the tools of a server that cannot be had', async () => {
    await using app = await startApp()
    const good = await toolServer(app, 'good', 'fine')
    await app.put('default/servers.json', serverFile({ hanging, good: good.entry }))
    const { id } = await createAgent(app)
    expect(await offered(app, id)).toBe('fine')
  })
})
