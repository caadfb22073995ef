// Local mode has no authentication, so a page of somebody else in the user's browser must get nothing out of it.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { proves } from '../spec/proves.ts'
import { launchBrowser } from '../support/chromium.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NAMES = 'MAP evil.test 127.0.0.1,MAP rebind.test 127.0.0.1'
const SECRET = 'canary-agent'
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

const ATTACKS = [
  ...['form', 'noCors', 'cors', 'corsRead', 'noCorsRead', 'remove'],
  ...['beacon', 'image', 'script', 'frame', 'socket'],
]

/** Passes bytes on untouched and remembers them, so that an attack that never arrived is not taken for a defence. */
async function relayTo(port: number) {
  const seen = { asked: '', answered: '' }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.pipe(to)
    }
    client.on('data', (chunk) => {
      seen.asked += chunk
    })
    upstream.on('data', (chunk) => {
      seen.answered += chunk
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await server[Symbol.asyncDispose]()
  }
  return { seen, port: portOf(server), [Symbol.asyncDispose]: close }
}

async function servePage() {
  const html = await readFile(join(import.meta.dirname, 'evil-page.html'))
  const server = createHttpServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** What the page could read. */
const attack = (page: Page, name: string, target: string): Promise<string> =>
  page.evaluate(`attack(${JSON.stringify(name)}, ${JSON.stringify(target)})`)

async function agentNames({ api }: ServiceProcess): Promise<string[]> {
  const answer = await fetch(`${api}/api/v1/agents?limit=100`)
  const { data } = (await answer.json()) as { data: { name: string }[] }
  return data.map(({ name }) => name).sort()
}

async function prepare(home: string) {
  const service = await startService({ home })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: SECRET, prompt: 'p' })
  await fetch(`${service.api}/api/v1/agents`, { method: 'POST', headers, body })
  // The example of a first start arrives a moment after the ready line.
  await expect.poll(() => agentNames(service)).toEqual([SECRET, 'hello'])
  return service
}

async function openEvil(browser: Browser, port: number): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`http://evil.test:${port}/`)
  return page
}

describe('a page of another origin', () => {
  for (const kind of ['on this machine', 'on a public address'] as const) {
    proves(['guard.origin', 'guard.host'], `${kind} creates nothing and reads nothing on any port`, async () => {
      await using home = await temporaryFolder()
      await using service = await prepare(home.path)
      await using evil = await servePage()
      const space = `--ip-address-space-overrides=127.0.0.1:${portOf(evil)}=public`
      const isPublic = kind === 'on a public address'
      await using browser = await launchBrowser([`--host-resolver-rules=${NAMES}`, ...(isPublic ? [space] : [])])
      for (const door of [service.api, service.mcp, service.agents]) {
        await using relay = await relayTo(Number(new URL(door).port))
        const page = await openEvil(browser, portOf(evil))
        for (const name of ATTACKS) {
          const before = relay.seen.asked.length
          expect(await attack(page, name, `http://127.0.0.1:${relay.port}`), name).toBe('')
          // The browser itself keeps a public page away; from this machine it sends, and the service refuses.
          const sent = () => relay.seen.asked.slice(before)
          if (!isPublic) await expect.poll(sent, { message: name }).toMatch(/^[A-Z]+ \/(api\/v1\/agents|docs)/m)
        }
        await page.close()
        const statuses = [...relay.seen.answered.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
        expect(statuses.filter((status) => status === '201')).toEqual([])
        if (!isPublic) expect(statuses).toContain('403')
      }
      expect(await agentNames(service)).toEqual([SECRET, 'hello'])
    })
  }

  test('the page at /docs is not shown in a frame', async () => {
    await using home = await temporaryFolder()
    await using service = await prepare(home.path)
    await using evil = await servePage()
    await using browser = await launchBrowser([`--host-resolver-rules=${NAMES}`])
    const page = await openEvil(browser, portOf(evil))
    await attack(page, 'frame', service.api.replace('localhost', '127.0.0.1'))
    const shown = page.frames().filter((frame) => frame !== page.mainFrame())
    expect(await Promise.all(shown.map((frame) => frame.locator('details').count()))).toEqual([0])
  })
})

proves('guard.host', 'a name rebound to this machine reads nothing and creates nothing on any port', async () => {
  await using home = await temporaryFolder()
  await using service = await prepare(home.path)
  await using browser = await launchBrowser([`--host-resolver-rules=${NAMES}`])
  for (const [door, path] of [
    [service.api, '/docs'],
    [service.mcp, '/health'],
    [service.agents, '/health'],
  ] as const) {
    const origin = `http://rebind.test:${new URL(door).port}`
    const page = await browser.newPage()
    expect((await page.goto(origin + path))?.status()).toBe(403)
    const call = (url: string, options: object) =>
      page.evaluate(
        async ([to, how]) => {
          const response = await fetch(to, how)
          return { status: response.status, text: await response.text() }
        },
        [url, options] as const,
      )
    const json = { 'content-type': 'application/json' }
    const body = '{"name":"pwned-rebind","prompt":"p"}'
    const answers = [
      await call('/api/v1/agents', {}),
      await call('/health', {}),
      await call('/api/v1/agents', { method: 'POST', headers: json, body }),
      await call('/api/v1/agents/1', { method: 'DELETE' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(JSON.stringify(answers)).not.toContain(SECRET)
    await page.close()
  }
  expect(await agentNames(service)).toEqual([SECRET, 'hello'])
})
