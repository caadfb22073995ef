// The servers and tools of environments over REST: what is listed, what is shown, and one tool tried out.
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { startApp, type TestApp } from '../support/app.ts'
import { misbehaving } from '../support/misbehaving/faults.ts'
import { startMisbehavingHttp } from '../support/misbehaving/http-server.ts'
import { outcome, refusal } from '../support/rest-calls.ts'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { proves } from './proves.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const EXAMPLE = { command: '${AGENTHOST_NODE}', args: ['${AGENTHOST_ROOT}/examples/tools/server.ts'] }
const EXAMPLE_TOOLS = ['calculate', 'echo', 'fail', 'time', 'wait']

interface Named {
  id: number
  name: string
}

const putServers = (app: TestApp, mcpServers: Record<string, object>, environment = 'default') =>
  app.put(`${environment}/servers.json`, JSON.stringify({ mcpServers }))

async function sync(app: TestApp, environment = 'default') {
  const { status, body } = await app.api('POST', `/environments/${environment}/sync`)
  expect(status).toBe(200)
  return body.data
}

/** With these servers, connected and their tools read. */
async function appWith(mcpServers: Record<string, object>, settings: Record<string, string> = {}): Promise<TestApp> {
  const app = await startApp(settings)
  await putServers(app, mcpServers)
  await sync(app)
  return app
}

const list = async (app: TestApp, path: string) => (await app.api('GET', path)).body.data
const names = async (app: TestApp, path: string) => (await list(app, path)).map(({ name }: Named) => name).sort()

async function toolId(app: TestApp, name: string): Promise<number> {
  const found = (await list(app, '/tools')).find((tool: Named) => tool.name === name)
  expect(found, `a tool named ${name}`).toBeDefined()
  return found.id
}

async function tryTool(app: TestApp, name: string, body?: object) {
  const answer = await app.api('POST', `/tools/${await toolId(app, name)}/call`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.data
}

describe('GET /mcp-servers', () => {
  proves(['servers.list', 'servers.record', 'servers.record-target'], 'lists whole records', async () => {
    await using remote = await startMisbehavingHttp('unavailable', { when: 'call' })
    await using app = await appWith({ example: EXAMPLE, remote: { url: remote.url } })
    const { status, body } = await app.api('GET', '/mcp-servers')
    expect(status).toBe(200)
    const common = { id: expect.any(Number), environment: 'default', status: 'up', error: null }
    const connected = { last_connected_at: expect.stringMatching(ISO) }
    expect(body.data).toEqual([
      { ...common, ...connected, name: 'example', transport: 'stdio', ...EXAMPLE, tools_count: 5 },
      { ...common, ...connected, name: 'remote', transport: 'http', url: remote.url, tools_count: 2 },
    ])
    expect(body.pagination).toEqual({ page: 1, limit: 100, total: 2, pages: 1 })
  })

  proves('servers.list', 'is cut into pages, and into environments', async () => {
    await using app = await appWith({ one: EXAMPLE, two: EXAMPLE })
    await putServers(app, { three: EXAMPLE }, 'other')
    await sync(app, 'other')
    expect((await app.api('GET', '/mcp-servers?page=2&limit=2')).body).toMatchObject({
      data: [{ name: 'three', environment: 'other' }],
      pagination: { page: 2, limit: 2, total: 3, pages: 2 },
    })
    expect(await names(app, '/mcp-servers?environment=default')).toEqual(['one', 'two'])
    expect(await names(app, '/mcp-servers?environment=other')).toEqual(['three'])
    const nowhere = await app.api('GET', '/mcp-servers?environment=nowhere')
    expect(nowhere).toMatchObject({ status: 200, body: { data: [], pagination: { total: 0, pages: 0 } } })
  })

  proves('servers.record-target', 'shows no secret value, wherever the file has it', async () => {
    const settings = { SERVICE_TOKEN: 'process-secret-1' }
    await using app = await startApp(settings)
    await app.put('default/variables.yml', 'TOKEN: variable-secret-2\n')
    await putServers(app, {
      local: {
        ...EXAMPLE,
        args: [...EXAMPLE.args, '--token', 'literal-secret-3', '${TOKEN}'],
        env: { A_KEY: 'env-secret-4' },
      },
      remote: {
        url: 'http://user:url-secret-5@127.0.0.1:9/mcp?key=query-secret-6&t=${SERVICE_TOKEN}',
        headers: { authorization: 'Bearer header-secret-7' },
      },
    })
    const report = await sync(app)
    expect(report.errors).toMatchObject([{ server: 'remote' }])
    const shown = JSON.stringify([await list(app, '/mcp-servers'), report, await list(app, '/environments')])
    expect(shown).not.toMatch(/-secret-\d/)
    expect(shown).toContain('${TOKEN}')
  })

  proves('servers.record-status', 'is idle before the first connection, then up or down with the reason', async () => {
    await using app = await startApp()
    await putServers(app, {
      good: EXAMPLE,
      bad: misbehaving('exits-loudly'),
      off: { ...EXAMPLE, disabled: true },
    })
    expect(await list(app, '/mcp-servers')).toEqual([])
    const { errors } = await sync(app)
    expect(errors).toMatchObject([{ server: 'bad', message: expect.stringContaining('line 100') }])
    const byName = Object.fromEntries((await list(app, '/mcp-servers')).map((server: Named) => [server.name, server]))
    expect(byName).toMatchObject({
      good: { status: 'up', error: null },
      bad: { status: 'down', error: expect.stringContaining('line 100'), tools_count: 0, last_connected_at: null },
      off: { status: 'idle', error: expect.stringContaining('disabled'), tools_count: 0, last_connected_at: null },
    })
  })

  proves('servers.record-status', 'is connecting while a server takes its time', async () => {
    await using app = await startApp()
    await putServers(app, { late: misbehaving('starts-late', { seconds: 1 }) })
    const synced = sync(app)
    await until('connecting', async () => (await list(app, '/mcp-servers'))[0]?.status === 'connecting')
    expect((await synced).errors).toEqual([])
    expect(await list(app, '/mcp-servers')).toMatchObject([{ status: 'up' }])
  })
})

describe('GET /tools', () => {
  proves(['tools.list', 'tools.record'], 'lists whole records', async () => {
    await using app = await appWith({ example: EXAMPLE })
    const { status, body } = await app.api('GET', '/tools')
    expect(status).toBe(200)
    expect(body.pagination).toEqual({ page: 1, limit: 100, total: 5, pages: 1 })
    expect(body.data.map(({ name }: Named) => name).sort()).toEqual(EXAMPLE_TOOLS)
    expect(body.data.find(({ name }: Named) => name === 'echo')).toEqual({
      id: expect.any(Number),
      name: 'echo',
      server: 'example',
      environment: 'default',
      description: 'Gives back the text it gets.',
      input_schema: expect.objectContaining({
        type: 'object',
        properties: { text: { type: 'string', description: 'What to give back' } },
        required: ['text'],
      }),
      annotations: { readOnlyHint: true, openWorldHint: false, idempotentHint: true },
    })
  })

  proves('tools.list', 'is cut into pages, and found by environment, server and text', async () => {
    await using app = await appWith({ one: EXAMPLE, two: misbehaving('many-tools') })
    await putServers(app, { three: EXAMPLE }, 'other')
    await sync(app, 'other')
    expect((await app.api('GET', '/tools?environment=other&limit=2&page=3')).body).toMatchObject({
      data: [{ environment: 'other' }],
      pagination: { page: 3, limit: 2, total: 5, pages: 3 },
    })
    expect(await names(app, '/tools?server=one')).toEqual(EXAMPLE_TOOLS)
    expect(await names(app, '/tools?environment=default&server=three')).toEqual([])
    expect(await names(app, '/tools?q=CALC&environment=other')).toEqual(['calculate'])
    expect(await names(app, '/tools?q=current%20DATE&server=one')).toEqual(['time'])
    expect(await names(app, '/tools?environment=nowhere')).toEqual([])
    expect((await app.api('GET', '/tools?page=0')).status).toBe(400)
  })
})

describe('lists of servers and tools', () => {
  proves('rest.limit-tools', 'have 100 items on a page unless told otherwise', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 101 }, (_, index) => [`server-${index}`, { ...EXAMPLE, disabled: true }]),
    )
    await using app = await appWith({ ...many, many: misbehaving('many-tools') })
    for (const path of ['/mcp-servers', '/tools']) {
      const { body } = await app.api('GET', path)
      expect(body.data, path).toHaveLength(100)
      expect(body.pagination, path).toMatchObject({ page: 1, limit: 100 })
      expect(body.pagination.total, path).toBeGreaterThan(100)
    }
  })
})

describe('POST /tools/:id/call', () => {
  proves('tools.call', 'tries one tool, with arguments or without', async () => {
    await using app = await appWith({ example: EXAMPLE })
    expect(await tryTool(app, 'echo', { arguments: { text: 'Grüße' } })).toEqual({ output: 'Grüße', is_error: false })
    expect(await tryTool(app, 'time')).toEqual({ output: expect.stringMatching(/\+00:00$/), is_error: false })
    expect(await tryTool(app, 'time', {})).toMatchObject({ is_error: false })
    expect((await app.api('GET', '/runs')).body.pagination.total).toBe(0)
  })

  proves('tools.call', 'that fails, or whose server does, is an answer that says so', async () => {
    await using app = await appWith({ example: EXAMPLE, bad: misbehaving('exits-in-call') })
    const failed = (output: unknown) => ({ output, is_error: true })
    expect(await tryTool(app, 'fail', { arguments: { reason: 'out of ink' } })).toEqual(failed('out of ink'))
    expect(await tryTool(app, 'calculate', { arguments: { expression: '1/0' } })).toEqual(failed('Division by zero'))
    expect(await tryTool(app, 'echo', { arguments: { text: 5 } })).toEqual(failed(expect.stringContaining('text')))
    expect(await tryTool(app, 'fault')).toEqual(failed(expect.stringMatching(/\S/)))
    expect(await tryTool(app, 'echo', { arguments: { text: 'well' } })).toEqual({ output: 'well', is_error: false })
  })

  proves('tools.call', 'of an unknown tool is 404, and of a wrong body 400', async () => {
    await using app = await appWith({ example: EXAMPLE })
    const id = await toolId(app, 'echo')
    const post = async (path: string, body?: object) => outcome(await app.api('POST', path, body))
    expect(await post('/tools/999999/call')).toEqual(refusal(404, 'TOOL_NOT_FOUND'))
    expect(await post('/tools/echo/call')).toEqual(refusal(400, 'INVALID_REQUEST'))
    expect(await post(`/tools/${id}/call`, { arguments: [] })).toEqual(refusal(400, 'INVALID_REQUEST'))
    expect(await post(`/tools/${id}/call`, { text: 'x' })).toEqual(refusal(400, 'INVALID_REQUEST'))
    await putServers(app, {})
    await sync(app)
    expect(await post(`/tools/${id}/call`)).toEqual(refusal(404, 'TOOL_NOT_FOUND'))
  })

  proves('tools.call', 'ends when the caller goes away', async () => {
    await using remote = await startMisbehavingHttp('never-answers', { when: 'call' })
    await using app = await appWith({ remote: { url: remote.url } })
    const leaving = new AbortController()
    const url = `http://localhost:8585/api/v1/tools/${await toolId(app, 'fault')}/call`
    const headers = { host: 'localhost:8585' }
    const asked = app.fetch('api', new Request(url, { method: 'POST', headers, signal: leaving.signal }))
    await until('the call', () => remote.requests.some(({ message }) => message.params?.name === 'fault'))
    leaving.abort()
    await asked
    expect(await tryTool(app, 'ok')).toEqual({ output: 'ok', is_error: false })
  })
})

describe('the API document', () => {
  proves('openapi.same-schemas', 'is true about every answer about servers and tools, good and bad', async () => {
    await using app = await appWith({ example: EXAMPLE, bad: misbehaving('exits-at-start') })
    const { paths, components } = (await app.api('GET', '/openapi.json')).body
    const id = await toolId(app, 'echo')
    const call = '/tools/{id}/call'
    const calls: [method: string, template: string, path: string, status: number, body?: object][] = [
      ['get', '/mcp-servers', '/mcp-servers', 200],
      ['get', '/mcp-servers', '/mcp-servers?limit=0', 400],
      ['get', '/tools', '/tools', 200],
      ['get', '/tools', '/tools?page=x', 400],
      ['post', call, `/tools/${id}/call`, 200, { arguments: { text: 'x' } }],
      ['post', call, `/tools/${id}/call`, 200],
      ['post', call, `/tools/${id}/call`, 400, { arguments: 'x' }],
      ['post', call, '/tools/999999/call', 404],
    ]
    for (const [method, template, path, status, sent] of calls) {
      const answer = await app.api(method.toUpperCase(), path, sent)
      expect(answer.status, `${method} ${path}`).toBe(status)
      const { schema } = paths[`/api/v1${template}`][method].responses[status].content['application/json']
      const text = JSON.stringify({ ...schema, $defs: components.schemas })
      const described = z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
      expect(described.safeParse(answer.body).error?.issues, `${method} ${path}`).toBeUndefined()
    }
  })
})

describe('the numbers', () => {
  proves('environments.tool-counts', 'of an environment follow its files', async () => {
    await using app = await appWith({ one: EXAMPLE, two: misbehaving('same-tool-twice') })
    const counts = async () => {
      const { mcp_servers_count, tools_count } = (await app.api('GET', '/environments/default')).body.data
      return [mcp_servers_count, tools_count]
    }
    expect(await counts()).toEqual([2, 8])
    await putServers(app, { one: { ...EXAMPLE, disabled: true }, two: misbehaving('same-tool-twice') })
    await sync(app)
    expect(await counts()).toEqual([2, 3])
    await putServers(app, { one: EXAMPLE })
    await sync(app)
    expect(await counts()).toEqual([1, 5])
    await putServers(app, {})
    await sync(app)
    expect(await counts()).toEqual([0, 0])
  })

  proves('health.mcp-servers', 'of servers up and down are in health, which is degraded by a bad one', async () => {
    await using app = await startApp()
    const health = async () => (await app.api('GET', '/health')).body.data
    expect(await health()).toMatchObject({ status: 'ok', mcp_servers: { up: 0, down: 0 } })
    await putServers(app, { one: EXAMPLE, two: EXAMPLE, bad: misbehaving('exits-at-start') })
    await sync(app)
    expect(await health()).toMatchObject({ status: 'degraded', mcp_servers: { up: 2, down: 1 } })
    await putServers(app, { one: EXAMPLE })
    await sync(app)
    expect(await health()).toMatchObject({ status: 'ok', mcp_servers: { up: 1, down: 0 } })
  })
})

describe('a first start', () => {
  proves('running.example', 'has an example environment, with an agent that has tools to call', async () => {
    await using folder = await temporaryFolder()
    await using service = await startService({ home: join(folder.path, 'home') })
    const get = async (path: string) => {
      const response = await fetch(`${service.api}/api/v1${path}`)
      // biome-ignore lint/suspicious/noExplicitAny: whatever came back is under test
      return ((await response.json()) as any).data
    }
    const last = await until(
      'the end of the sync',
      async () => (await get('/environments/default'))?.last_sync ?? false,
    )
    expect(last).toMatchObject({ status: 'ok', errors: [] })
    expect(await get('/mcp-servers')).toMatchObject([{ name: 'example', environment: 'default', status: 'up' }])
    expect((await get('/tools')).map(({ name }: Named) => name).sort()).toEqual(EXAMPLE_TOOLS)
    expect(await get('/agents')).toMatchObject([{ name: 'hello', environment: 'default', tools: null }])
  })
})
