/**
 * The baseline of the accept benchmark: a bare node:http server that stores the same row with the same group commit
 * and answers the same five fields. No checks, no lookup, no template. Started as a process of its own.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

const store = await openSqliteStore(process.argv[2] ?? '')
const run = {
  agent: { id: 1, name: 'bench', version: 1, environment_id: 1, environment: 'default' },
  ...{ variables: {}, messages: [{ role: 'user' as const, content: 'x' }], model: 'offline', timeout_seconds: 900 },
  source: { type: 'webhook' as const, principal: null, address: '127.0.0.1', user_agent: null, request_id: null },
  ...{ callback_url: null, request_key: null, full: false },
}

const server = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', async () => {
    const { task } = JSON.parse(text)
    const { answer } = await store.write('acceptRun', { ...run, task, at: Date.now() })
    const body = JSON.stringify(answer)
    response.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
