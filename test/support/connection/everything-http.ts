// The reference server over Streamable HTTP, in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { EVERYTHING } from './connections.ts'

export interface EverythingServer extends AsyncDisposable {
  url: string
  stop(): Promise<void>
}

export async function startEverything(port?: number): Promise<EverythingServer & { port: number }> {
  const chosen = port ?? (await freePort())
  const env = { PATH: process.env.PATH, PORT: String(chosen) }
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  for await (const words of child.stderr) if (String(words).includes('listening')) break
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { url: `http://127.0.0.1:${chosen}/mcp`, port: chosen, stop, [Symbol.asyncDispose]: stop }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
