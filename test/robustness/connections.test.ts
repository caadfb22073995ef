// What is not HTTP, or never gets finished, costs the service nothing for long.
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const say = (address: string, bytes: string): Socket => {
  const { hostname, port } = new URL(address)
  // Half-open on purpose: a hostile client does not close its side.
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

test('connections that carry rubbish are freed although the client never closes them', async () => {
  await using folder = await temporaryFolder()
  await using service = await startService({ home: folder.path })
  await fetch(`${service.api}/api/v1/health`)
  const before = descriptors(service.pid)
  const sockets = Array.from({ length: 60 }, () => say(service.api, 'RUBBISH\r\n\r\n'))
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('end', resolve).resume())))
  await vi.waitFor(() => expect(descriptors(service.pid)).toBeLessThan(before + 10), { timeout: 5000 })
  for (const socket of sockets) socket.destroy()
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

test('a Host that is no name at all is refused with 403 in the words of its port', async () => {
  await using folder = await temporaryFolder()
  await using service = await startService({ home: folder.path })
  const ask = async (address: string, path: string) => {
    const socket = say(address, `GET ${path} HTTP/1.1\r\nHost: evil.com:abc\r\nConnection: close\r\n\r\n`)
    const answer = await text(socket)
    socket.destroy()
    return answer
  }
  const rest = await ask(service.api, '/api/v1/agents')
  expect(rest).toMatch(/^HTTP\/1\.1 403 /)
  expect(rest).toContain('"code":"FORBIDDEN"')
  expect(rest.toLowerCase()).toContain('x-request-id: ')
  expect(await ask(service.agents, '/health')).toMatch(/^HTTP\/1\.1 403 [\s\S]*"error":"forbidden"/)
})

test('headers that never end in size are answered 431', async () => {
  await using folder = await temporaryFolder()
  await using service = await startService({ home: folder.path })
  const socket = say(service.api, `GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`)
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /)
  socket.destroy()
})

test('rubbish behind a valid request is not answered in its place', async () => {
  await using folder = await temporaryFolder()
  await using service = await startService({ home: folder.path })
  const body = JSON.stringify({ name: 'piped', prompt: 'Hi' })
  const head = `POST /api/v1/agents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  const socket = say(service.api, `${head}Content-Length: ${body.length}\r\n\r\n${body}RUBBISH\r\n\r\n`)
  const answer = await text(socket).catch(() => '')
  socket.destroy()
  expect(answer).not.toMatch(/ 400 /)
})
