// A connection over Streamable HTTP: real servers on loopback, from the well-behaved to the hostile.
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createMask } from '../../src/tools/servers/secrets/mask.ts'
import { at, connected, failureOf } from '../support/connection/connections.ts'
import { freePort, startEverything } from '../support/connection/everything-http.ts'
import { createGreeter } from '../support/connection/greeter.ts'
import { startModernHttp } from '../support/connection/modern-http-server.ts'
import { startHttp, startOddHttp } from '../support/connection/odd-http-server.ts'
import { piecesOf } from '../support/hostile/pieces.ts'
import { until } from '../support/until.ts'

const hello = async (url: string) => {
  await using connection = await connected(at(url))
  return (await connection.ask('echo', { text: 'hello' })).output
}

describe('a server that behaves', () => {
  test('of the older era lists its tools, answers, and is told goodbye', async () => {
    await using server = await startOddHttp()
    const connection = await connected(at(server.url, { authorization: 'Bearer s3cret' }))
    const { tools, complaint } = await connection.list({ timeout_ms: 5_000 })
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(complaint).toBe("1 tool was left out: 'broken' has no object as its input schema")
    expect(await connection.ask('echo', { text: 'hi s3cret' })).toEqual({ output: 'hi ••••', is_error: false })
    expect((await connection.ask('stream')).output).toBe('streamed')
    expect((await connection.ask('large-stream')).output).toBe('still there')
    expect((await connection.ask('resume')).output).toBe('resumed')
    await connection.close()
    expect(server.asked.at(-1)).toBe('DELETE')
    expect(server.headers.every(({ authorization }) => authorization === 'Bearer s3cret')).toBe(true)
  })

  test('such as the reference server is called again after its restart, once it is connected anew', async () => {
    const first = await startEverything()
    await using connection = await connected(at(first.url))
    expect((await connection.ask('echo', { message: 'hi' })).output).toBe('Echo: hi')
    await first.stop()
    expect(await failureOf(connection.ask('echo', { message: 'hi' }))).toMatchObject({ kind: 'unreachable' })
    await using second = await startEverything(first.port)
    expect(await failureOf(connection.ask('echo', { message: 'hi' }))).toMatchObject({
      name: 'SessionLost',
      kind: 'lost',
    })
    await using again = await connected(at(second.url))
    expect((await again.ask('echo', { message: 'hi' })).output).toBe('Echo: hi')
  })

  test.each(['reject', 'stateless'] as const)(
    'of the modern era (older one: %s) is called and heard',
    async (legacy) => {
      await using server = await startModernHttp(createGreeter, legacy)
      await using connection = await connected(at(server.url))
      expect((await connection.list({ timeout_ms: 5_000 })).tools.map(({ name }) => name)).toEqual(['greet', 'change'])
      expect((await connection.ask('greet', { name: 'Ada' })).output).toBe('hello Ada (7:3)')
      await until('the change is heard', () => {
        server.toolsChanged()
        return connection.changes() > 0
      })
    },
  )

  test('of the modern era gets the arguments in headers that it asks for', async () => {
    const create = () => {
      const server = new McpServer({ name: 'mirror', version: '1' })
      const region = z.string().meta({ 'x-mcp-header': 'Region' })
      const twice = z.string().meta({ 'x-mcp-header': 'not a token' })
      server.registerTool('good', { inputSchema: z.object({ region }) }, () => ({ content: [] }))
      server.registerTool('bad', { inputSchema: z.object({ twice }) }, () => ({ content: [] }))
      return server
    }
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    await using server = await startModernHttp(create, 'reject')
    await using connection = await connected(at(server.url))
    const { tools, complaint } = await connection.list({ timeout_ms: 5_000 })
    expect(tools.map(({ name }) => name)).toEqual(['good'])
    expect(complaint).toBe("1 tool was left out: 'bad' declares an invalid x-mcp-header")
    await connection.ask('good', { region: 'eu' }, { input_schema: tools[0]?.input_schema ?? {} })
    expect(server.headers.some((headers) => headers['mcp-param-region'] === 'eu')).toBe(true)
    // The server is in this process too, and has its own say.
    expect(warn).not.toHaveBeenCalledWith(expect.stringContaining('excluding tool'))
    warn.mockRestore()
  })
})

describe('a session that the server has forgotten', () => {
  const sessionId = { error: { code: -32_000, message: 'Bad Request: No valid session ID provided' } }
  test.each([{ status: 404 }, { status: 400, body: sessionId }])(
    'fails as such, not executed: $status',
    async (answer) => {
      await using server = await startOddHttp(answer)
      await using connection = await connected(at(server.url))
      await connection.ask('forget')
      expect(await failureOf(connection.ask('echo'))).toMatchObject({ name: 'SessionLost', kind: 'lost' })
      expect(await failureOf(connection.list({ timeout_ms: 1_000 }))).toMatchObject({ name: 'SessionLost' })
      expect(await hello(server.url)).toBe('hello')
    },
  )
})

describe('a call that fails', () => {
  test.each([
    ['cut', {}, 'lost', 'the server ended the stream without an answer'],
    ['reset', {}, 'lost', expect.stringMatching(/^the connection was cut/)],
    ['huge-json', {}, 'rubbish', 'the answer is larger than 10 MiB'],
    ['huge-event', {}, 'rubbish', 'the answer is larger than 10 MiB'],
    ['hang', {}, 'timeout', 'the server did not answer within 0.4 s'],
    ['hang-stream', {}, 'timeout', 'the server did not answer within 0.4 s'],
    ['html', {}, 'rubbish', expect.stringContaining('text/html')],
    ['garbage', {}, 'rubbish', 'the answer is not JSON'],
    ['status', { status: 500 }, 'lost', 'the server fails with status 500'],
    ['status', { status: 422 }, 'refused', 'the server answered with status 422: no ••••'],
    ['status', { status: 401 }, 'refused', expect.stringContaining('Authorization')],
  ])('%s %j says so and leaves the others and no request open', async (tool, input, kind, message) => {
    await using server = await startOddHttp()
    await using connection = await connected(at(server.url))
    const timeout_ms = kind === 'timeout' ? 400 : 10_000
    expect(await failureOf(connection.ask(tool, input, { timeout_ms }))).toMatchObject({ kind, message })
    expect((await connection.ask('echo', { text: 'alive' })).output).toBe('alive')
    await until('no request is open', () => server.openRequests() === 0)
  })

  test('to end its stream after the answer is ended by us', async () => {
    await using server = await startOddHttp()
    await using connection = await connected(at(server.url))
    expect((await connection.ask('linger')).output).toBe('that is all')
    await until('no request is open', () => server.openRequests() === 0)
  })

  test('because nobody waits for it any more rejects with their reason', async () => {
    await using server = await startOddHttp()
    await using connection = await connected(at(server.url))
    const abort = new AbortController()
    const call = connection.ask('hang', {}, { signal: abort.signal })
    await until('the call is there', () => server.asked.includes('POST tools/call'))
    abort.abort(new Error('the run is over'))
    await expect(call).rejects.toThrow('the run is over')
    await until('no request is open', () => server.openRequests() === 0)
  })
})

describe('a connection that cannot be made', () => {
  test('for want of a scope says so, and asks nobody else about it', async () => {
    await using elsewhere = await startHttp((_request, response) => void response.end('{}'))
    await using server = await startHttp((_request, response) => {
      const scope = `Bearer error="insufficient_scope", scope="all", resource_metadata="${elsewhere.url}"`
      response.writeHead(403, { 'www-authenticate': scope }).end()
    })
    expect(await failureOf(connected(at(server.url)))).toMatchObject({
      kind: 'refused',
      message: 'the server denies access (403): check the headers in its file',
    })
    expect(elsewhere.headers).toEqual([])
  })

  test('shows no part of a secret, wherever what the server says is cut off', async () => {
    const secret = 'Tr0ub4dor+Secret/Value=9'
    const mask = createMask([secret])
    let body = ''
    await using server = await startHttp((_request, response) => void response.writeHead(418).end(body))
    for (const length of [490, 1_950, 1_960, 1_970, 1_980, 1_990, 16_370]) {
      body = `${'z'.repeat(length)}${secret}`
      const { message } = await failureOf(connected(at(server.url), { mask }))
      expect(message).toContain(length < 16_000 ? 'status 418: zzz' : 'status 418')
      expect(piecesOf(secret).filter((piece) => message.includes(piece))).toEqual([])
    }
  })

  test.each([
    [401, 'refused', /Authorization in its file/],
    [403, 'refused', /denies access/],
    [404, 'refused', /no MCP server at this address/],
    [405, 'refused', /not the older HTTP\+SSE/],
    [503, 'unreachable', /status 503/],
    [200, 'rubbish', /./],
  ])('with status %i says what to do', async (status, kind, message) => {
    await using server = await startHttp((_request, response) => void response.writeHead(status).end('x'))
    expect(await failureOf(connected(at(server.url)))).toMatchObject({ kind, message: expect.stringMatching(message) })
  })

  test('because nothing listens or nobody knows the host says so', async () => {
    const port = await freePort()
    expect(await failureOf(connected(at(`http://127.0.0.1:${port}/mcp`)))).toMatchObject({
      kind: 'unreachable',
      message: 'nothing listens at this address (connection refused)',
    })
    expect(await failureOf(connected(at('http://no-such-host.invalid/mcp')))).toMatchObject({ kind: 'unreachable' })
    await using plain = await startOddHttp()
    expect(await failureOf(connected(at(plain.url.replace('http:', 'https:'))))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('no secure connection'),
    })
  })

  test('because it is redirected elsewhere gives nothing away', async () => {
    await using elsewhere = await startOddHttp()
    await using server = await startHttp((_request, response) => {
      response.writeHead(307, { location: elsewhere.url }).end()
    })
    const failure = await failureOf(connected(at(server.url, { authorization: 'Bearer s3cret' })))
    expect(failure).toMatchObject({ kind: 'refused', message: expect.stringContaining('Redirect to') })
    expect(elsewhere.headers).toEqual([])
  })

  test('in time, or that nobody wants any more, leaves no request behind', async () => {
    await using server = await startHttp(() => {})
    expect(await failureOf(connected(at(server.url), { connect_timeout_ms: 300 }))).toMatchObject({ kind: 'timeout' })
    await until('no request is open', () => server.openRequests() === 0)
    const abort = new AbortController()
    const attempt = failureOf(connected(at(server.url), {}, abort.signal))
    await until('the request is there', () => server.openRequests() > 0)
    abort.abort()
    expect(await attempt).toMatchObject({ kind: 'unreachable' })
    await until('no request is open', () => server.openRequests() === 0)
  })
})
