// The browser of the tests is a real one.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { launchBrowser } from './chromium.ts'

test('the browser opens a page of a server on loopback and reads its title', async () => {
  await using server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<title>Agenthost at home</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using browser = await launchBrowser()
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(await page.title()).toBe('Agenthost at home')
})
