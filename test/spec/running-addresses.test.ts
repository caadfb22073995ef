// Where the service listens and which address it gives out.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { agenthost } from '../support/agenthost.ts'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const FREE_PORTS = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }
const LISTEN = '0A'
const ADDRESSES: Record<string, string> = {
  '0100007F': '127.0.0.1',
  '0200007F': '127.0.0.2',
  '00000000': '0.0.0.0',
  '00000000000000000000000001000000': '::1',
  '00000000000000000000000000000000': '::',
}
const hasIpv6Loopback = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

async function socketsOf(pid: number): Promise<Set<string>> {
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all((await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => '')))
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
}

/** The kernel's word for what a process listens on, as `address port`. */
async function listening(pid: number): Promise<string[]> {
  const mine = await socketsOf(pid)
  const tables = ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => ''))
  const rows = (await Promise.all(tables)).flatMap((table) => table.trim().split('\n').slice(1))
  const found = rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
    const [address = '', port = ''] = local.split(':')
    return state === LISTEN && mine.has(inode) ? [`${ADDRESSES[address] ?? address} ${Number.parseInt(port, 16)}`] : []
  })
  return found.sort()
}

const portsOf = (service: { api: string; mcp: string; agents: string }) =>
  [service.api, service.mcp, service.agents].map((url) => new URL(url).port)

async function settings(env: Record<string, string> = {}): Promise<Record<string, unknown>> {
  await using home = await temporaryFolder()
  const { stdout } = await agenthost(['config', '--json', '--home', home.path], { env: { HOME: home.path, ...env } })
  const { values } = JSON.parse(stdout) as { values: { key: string; value: unknown }[] }
  return Object.fromEntries(values.map(({ key, value }) => [key, value]))
}

/** `fetch` does not let a caller choose the Host header. */
async function get(url: string, host: string) {
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>()
  request(url, { headers: { host } }, resolve).on('error', reject).end()
  const response = await promise
  // biome-ignore lint/suspicious/noExplicitAny: whatever came back is under test
  return { status: response.statusCode, headers: response.headers, body: (await json(response)) as any }
}

describe('ports', () => {
  proves(
    ['running.api-port', 'running.mcp-port', 'running.agent-mcp-port'],
    'the ports are 8585, 8586 and 8587 unless a setting names others, and those are what is listened on',
    async () => {
      const defaults = { 'api.port': 8585, 'mcp.port': 8586, 'agent_mcp.port': 8587 }
      expect(await settings()).toMatchObject(defaults)
      const env = { SVC_API_PORT: '31', SVC_MCP_PORT: '32', SVC_AGENT_MCP_PORT: '33' }
      expect(await settings(env)).toMatchObject({ 'api.port': 31, 'mcp.port': 32, 'agent_mcp.port': 33 })

      await using home = await temporaryFolder()
      const first = await startService({ home: home.path })
      await first.end('SIGTERM')
      const [api = '', mcp = '', agents = ''] = portsOf(first)
      const named = { SVC_API_PORT: api, SVC_MCP_PORT: mcp, SVC_AGENT_MCP_PORT: agents }
      await using again = await startService({ home: home.path, env: named })
      expect(portsOf(again)).toEqual([api, mcp, agents])
    },
  )

  proves('running.loopback-default', 'without SVC_HOST only loopback is listened on, 127.0.0.1 and ::1', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path })
    const addresses = hasIpv6Loopback ? ['127.0.0.1', '::1'] : ['127.0.0.1']
    const expected = addresses.flatMap((address) => portsOf(service).map((port) => `${address} ${port}`))
    expect(await listening(service.pid)).toEqual(expected.sort())
    for (const address of hasIpv6Loopback ? ['127.0.0.1', '[::1]', 'localhost'] : ['127.0.0.1', 'localhost']) {
      const urls = portsOf(service).map((port, door) => `http://${address}:${port}${door ? '' : '/api/v1'}/health`)
      const statuses = await Promise.all(urls.map(async (url) => (await fetch(url)).status))
      expect(statuses, address).toEqual([200, 200, 200])
    }
  })

  proves('running.host-setting', 'SVC_HOST is the one address that all three listeners bind to', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: { SVC_HOST: '127.0.0.2' } })
    expect(service.stdout()).toMatch(/^ready( \w+=http:\/\/127\.0\.0\.2:\d+){3}\n$/)
    expect(await listening(service.pid)).toEqual(
      portsOf(service)
        .map((port) => `127.0.0.2 ${port}`)
        .sort(),
    )
    expect((await fetch(`${service.api}/api/v1/health`)).status).toBe(200)
  })

  proves(
    'running.local-refuses-other-address',
    'local mode on an address that is not loopback exits with 2 and says what to do',
    async () => {
      await using home = await temporaryFolder()
      for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
        const env = { ...FREE_PORTS, HOME: home.path, SVC_HOST: host }
        const outcome = await agenthost(['serve', '--home', home.path], { env })
        expect(outcome, host).toMatchObject({ code: 2, stdout: '' })
        expect(outcome.stderr).toMatch(/^agenthost: [^\n]*--insecure-no-auth[^\n]*\n$/)
      }
      expect(await readdir(home.path)).toEqual([])
    },
  )

  proves(
    'running.insecure-no-auth',
    'SVC_INSECURE_NO_AUTH=true and --insecure-no-auth let local mode listen on any address',
    async () => {
      for (const more of [{ env: { SVC_INSECURE_NO_AUTH: 'true' } }, { args: ['--insecure-no-auth'] }]) {
        await using home = await temporaryFolder()
        const env = { SVC_HOST: '0.0.0.0', ...more.env }
        await using service = await startService({ home: home.path, ...more, env })
        const expected = portsOf(service).map((port) => `0.0.0.0 ${port}`)
        expect(await listening(service.pid)).toEqual(expected.sort())
      }
    },
  )
})

describe('a port that is taken', () => {
  const DOORS = [
    { variable: 'SVC_API_PORT', flag: '--api-port' },
    { variable: 'SVC_MCP_PORT', flag: '--mcp-port' },
    { variable: 'SVC_AGENT_MCP_PORT', flag: '--agent-mcp-port' },
  ]

  async function occupy() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const server = createServer().listen(0, '127.0.0.1', resolve)
    await promise
    return { server, port: (server.address() as import('node:net').AddressInfo).port }
  }

  test('the start fails with exit code 1 and one line that names the port and its setting', async () => {
    const { server, port } = await occupy()
    await using _ = server
    await using home = await temporaryFolder()
    for (const { variable, flag } of DOORS) {
      const env = { ...FREE_PORTS, HOME: home.path, [variable]: String(port) }
      const outcome = await agenthost(['serve', '--home', home.path], { env })
      expect(outcome, variable).toMatchObject({ code: 1, stdout: '' })
      expect(outcome.stderr).toMatch(/^agenthost: [^\n]*\n$/)
      for (const word of [String(port), variable, flag]) expect(outcome.stderr).toContain(word)
    }
  })

  test('nothing stays open or locked: the next start on the same home works', async () => {
    const { server, port } = await occupy()
    await using home = await temporaryFolder()
    const env = { SVC_AGENT_MCP_PORT: String(port) }
    const failed = await agenthost(['serve', '--home', home.path], { env: { ...FREE_PORTS, HOME: home.path, ...env } })
    expect(failed.code).toBe(1)
    await server[Symbol.asyncDispose]()
    await using service = await startService({ home: home.path, env })
    expect(new URL(service.agents).port).toBe(String(port))
  })

  test('the same port for two listeners is named too', async () => {
    const { server, port } = await occupy()
    await server[Symbol.asyncDispose]()
    await using home = await temporaryFolder()
    const env = { ...FREE_PORTS, HOME: home.path, SVC_API_PORT: String(port), SVC_MCP_PORT: String(port) }
    const outcome = await agenthost(['serve', '--home', home.path], { env })
    expect(outcome).toMatchObject({ stdout: '', stderr: expect.stringContaining(String(port)) })
    expect([1, 2]).toContain(outcome.code)
  })
})

describe('the address that the service gives out', () => {
  async function addressesIn(api: string, host: string) {
    const url = `${api}/api/v1`
    const list = await get(`${url}/agents`, host)
    const document = await get(`${url}/openapi.json`, host)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ name: `a${Date.now()}`, prompt: 'p' })
    const made = await fetch(`${url}/agents`, { method: 'POST', headers, body })
    return {
      link: String(list.headers.link),
      server: document.body.servers[0].url,
      location: made.headers.get('location'),
    }
  }

  proves('running.public-url', 'Link, Location and the servers of openapi.json start with public_url.api', async () => {
    for (const publicUrl of ['https://agents.example.org', 'https://agents.example.org/base/']) {
      await using home = await temporaryFolder()
      await using service = await startService({ home: home.path, env: { SVC_PUBLIC_URL_API: publicUrl } })
      const base = publicUrl.replace(/\/$/, '')
      const { link, server, location } = await addressesIn(service.api, 'agents.example.org')
      expect(link).toMatch(new RegExp(`^<${base}/api/v1/agents\\?`))
      expect(location).toMatch(new RegExp(`^${base}/api/v1/agents/\\d+$`))
      expect(server).toBe(base)
    }
  })

  proves(
    'running.host-header-not-echoed',
    'whatever allowed name a request calls the service by, the addresses in the answer are the same',
    async () => {
      await using home = await temporaryFolder()
      const env = { SVC_PUBLIC_URL_API: 'https://agents.example.org', SVC_ALLOWED_HOSTS: 'forged.example' }
      await using service = await startService({ home: home.path, env })
      for (const host of ['forged.example', 'forged.example:1', 'localhost:1']) {
        const answers = JSON.stringify(await addressesIn(service.api, host))
        expect(answers.match(/https?:\/\/[^/"\\]+/g)).toEqual(Array(4).fill('https://agents.example.org'))
      }
    },
  )

  proves('running.host-header-not-echoed', 'without public_url no address carries a host at all', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path, env: { SVC_ALLOWED_HOSTS: 'forged.example' } })
    const answers = await addressesIn(service.api, 'forged.example')
    expect(JSON.stringify(answers)).not.toMatch(/forged|https?:/)
    expect(answers).toMatchObject({ link: expect.stringMatching(/^<\/api\/v1\/agents\?/), server: '/' })
  })
})
