// The example tool server through the SDK's own client: the same five tools for old clients and new ones.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test } from 'vitest'
import { calculate } from '../../examples/tools/calculate.ts'

const SERVER = fileURLToPath(new URL('../../examples/tools/server.ts', import.meta.url))
const HEAVY_MS = 60_000

interface Connected extends AsyncDisposable {
  client: Client
  call(name: string, input?: Record<string, unknown>, signal?: AbortSignal): Promise<[text: string, isError: boolean]>
}

async function connect(mode: VersionNegotiationMode = 'legacy'): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER] }), { timeout: HEAVY_MS })
  return {
    client,
    async call(name, input = {}, signal = AbortSignal.timeout(HEAVY_MS)) {
      const { content, isError = false } = await client.callTool({ name, arguments: input }, { signal })
      return [content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n'), isError]
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

describe.each<[era: string, mode: VersionNegotiationMode]>([
  ['legacy', 'legacy'],
  ['modern', { pin: '2026-07-28' }],
])('a %s client', (era, mode) => {
  test('sees five tools, each described and harmless, and can call them', async () => {
    await using server = await connect(mode)
    expect(server.client.getProtocolEra()).toBe(era)
    const { tools } = await server.client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(['calculate', 'echo', 'fail', 'time', 'wait'])
    for (const { name, description, inputSchema, annotations } of tools) {
      expect(description, name).toMatch(/^[A-Z].+\.$/)
      expect(annotations, name).toMatchObject({ readOnlyHint: true, openWorldHint: false })
      for (const [field, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect(schema, `${name} ${field}`).toHaveProperty('description')
      }
    }
    expect(await server.call('echo', { text: 'Grüße 🎉\n' })).toEqual(['Grüße 🎉\n', false])
    expect(await server.call('calculate', { expression: '(1.5 + 2) * 4' })).toEqual(['14', false])
    expect(await server.call('wait', { seconds: 0 })).toEqual(['Waited 0 seconds.', false])
    expect(await server.call('fail', { reason: 'out of paper' })).toEqual(['out of paper', true])
    expect(await server.call('fail')).toEqual(['no reason given', true])
  })
})

describe('the tools', () => {
  test('time is the time of the zone, and a zone that nobody knows is an error', async () => {
    await using server = await connect()
    const before = Math.floor(Date.now() / 1000) * 1000
    const [utc] = await server.call('time')
    expect(utc).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    expect(Date.parse(utc)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(utc)).toBeLessThanOrEqual(Date.now())
    const [kathmandu] = await server.call('time', { zone: 'Asia/Kathmandu' })
    expect(kathmandu).toMatch(/\+05:45$/)
    expect(Date.parse(kathmandu) - Date.parse(utc)).toBeLessThan(HEAVY_MS)
    expect(await server.call('time', { zone: 'Mars/Olympus' })).toEqual([expect.stringContaining('Mars/Olympus'), true])
  })

  test('an argument that does not fit is an error that names it', async () => {
    await using server = await connect()
    expect(await server.call('wait', { seconds: 31 })).toEqual([expect.stringContaining('seconds'), true])
    expect(await server.call('wait', { seconds: -1 })).toEqual([expect.stringContaining('seconds'), true])
    expect(await server.call('echo')).toEqual([expect.stringContaining('text'), true])
    expect(await server.call('calculate', { expression: '1/0' })).toEqual(['Division by zero', true])
  })

  test('a wait that is cancelled leaves the server ready for the next call', async () => {
    await using server = await connect()
    const cancelled = new AbortController()
    const waiting = server.call('wait', { seconds: 30 }, cancelled.signal)
    cancelled.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow()
    expect(await server.call('echo', { text: 'still here' })).toEqual(['still here', false])
  })

  test.each<[expression: string, value: number]>([
    ['1', 1],
    ['1+2*3', 7],
    ['(1+2)*3', 9],
    ['8/4/2', 1],
    ['10-4-3', 3],
    ['-2*-3', 6],
    ['--2', 2],
    ['2*(3-(4-5))', 8],
    [' 0.1 + 0.25 ', 0.35],
    [`${'('.repeat(400)}7${')'.repeat(400)}`, 7],
  ])('%s is calculated', (expression, value) => {
    expect(calculate(expression)).toBeCloseTo(value, 12)
  })

  test.each<[expression: string, complaint: RegExp]>([
    ['', /ends too early/],
    ['1+', /ends too early/],
    ['1 2', /2 is not expected/],
    ['(1', /\) is missing/],
    ['1)', /\) is not expected/],
    ['1.', /\. is not expected/],
    ['2**3', /number is expected instead of \*/],
    ['process.exit()', /number is expected instead of p/],
    ['1/(2-2)', /Division by zero/],
    [`9${'*999999999999'.repeat(30)}`, /too large/],
  ])('%s is refused', (expression, complaint) => {
    expect(() => calculate(expression)).toThrow(complaint)
  })
})

describe('the end', () => {
  test('comes with the end of the input, whatever is still waiting', async () => {
    const child = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'inherit'] })
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'test', version: '1' }
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
    await once(child.stdout, 'data')
    send({ method: 'notifications/initialized' })
    send({ id: 2, method: 'tools/call', params: { name: 'wait', arguments: { seconds: 30 } } })
    send({ id: 3, method: 'ping' })
    await once(child.stdout, 'data')
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
