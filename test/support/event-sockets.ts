// Clients of an event stream that a browser is not: they read nothing, vanish, or send what nobody expects.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** A connection that has asked for a path and then looks at nothing that comes. */
export async function askAndIgnore(address: string, path: string, headers: string[] = []): Promise<Socket> {
  const { port } = new URL(address)
  const socket = connect({ host: '127.0.0.1', port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write([`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n'))
  return socket
}

/** What has come by the time this text has. */
export async function readUntil(socket: Socket, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk
    if (text.includes(wanted)) break
  }
  return text
}

/** Open files and connections of a process. */
export const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length
