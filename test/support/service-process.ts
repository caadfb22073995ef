// The service as people run it: a process of its own, ports of its own, really killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface ServiceProcess extends AsyncDisposable {
  api: string
  mcp: string
  agents: string
  pid: number
  stdout(): string
  stderr(): string
  /** Resolves when the process is over, by itself or by a signal. */
  ended: Promise<ProcessEnd>
  /** Sends a signal and resolves with how the process ended. */
  end(signal: NodeJS.Signals): Promise<ProcessEnd>
}

interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface StartOptions {
  home: string
  args?: string[]
  env?: Record<string, string>
  /** Another program in front, such as strace. */
  wrap?: string[]
  /** Another program in place of the real one. */
  entry?: string
}

const ENTRY = join(import.meta.dirname, '../../bin/agenthost.mjs')
const FREE_PORTS = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }

export async function startService(options: StartOptions): Promise<ServiceProcess> {
  const { home, args = [], env = {}, wrap = [], entry = ENTRY } = options
  const [command, ...rest] = [...wrap, process.execPath, entry, 'serve', '--home', home, ...args] as [
    string,
    ...string[],
  ]
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH, HOME: home, ...FREE_PORTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stderr?.on('data', (chunk) => {
    output.stderr += chunk
  })
  const line = await readyLine(child, output)
  const address = (name: string) => new RegExp(`${name}=(\\S+)`).exec(line)?.[1] ?? ''
  const ended = isOver(child)
    ? Promise.resolve({ code: child.exitCode, signal: child.signalCode })
    : once(child, 'exit').then(([code, signal]): ProcessEnd => ({ code, signal }))

  const end: ServiceProcess['end'] = (signal) => {
    child.kill(signal)
    return ended
  }
  return {
    ...{ api: address('api'), mcp: address('mcp'), agents: address('agents'), pid: child.pid as number },
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    ended,
    end,
    async [Symbol.asyncDispose]() {
      if (!isOver(child)) await end('SIGKILL')
    },
  }
}

const isOver = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** The first line of stdout; when the process ends instead, what it said. */
async function readyLine(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  lines.on('line', (line) => {
    output.stdout += `${line}\n`
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the service ended with ${code}: ${output.stderr}`)
  })
  const [line] = await Promise.race([once(lines, 'line'), ended])
  ended.catch(() => {})
  return line
}
