/** Starts the service the way `npm start` does, and measures it from outside. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { LoadOptions, LoadResult } from './load.ts'

const ENTRY = join(import.meta.dirname, '../bin/agenthost.mjs')
/** What `npm start` gives to Node: a small nursery, so that a burst of requests leaves no large process behind. */
export const AS_STARTED = ['--max-semi-space-size=8']
const FREE_PORTS = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }

export interface Measured {
  ready_ms: number
  resident_mb: number
}

export async function measureStart(home: string): Promise<Measured> {
  const began = performance.now()
  const child = spawn(process.execPath, [...AS_STARTED, ENTRY, 'serve', '--home', home], {
    env: { ...process.env, ...FREE_PORTS },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const ready_ms = performance.now() - began
  const resident_mb = residentMegabytes(child.pid as number)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { ready_ms, resident_mb }
}

export interface RunningService {
  api: string
  agents: string
  pid: number
  post(path: string, body: unknown): Promise<{ data: { id: number } }>
  get<Data>(path: string): Promise<Data>
  residentMb(): number
  kill(): Promise<void>
}

/** The service on a home of its own, to be asked and then killed. */
export async function runService(home: string, env: Record<string, string> = {}): Promise<RunningService> {
  const child = spawn(process.execPath, [...AS_STARTED, ENTRY, 'serve', '--home', home], {
    env: { ...process.env, ...FREE_PORTS, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [ready] = await once(child.stdout, 'data')
  const address = (name: string) => new RegExp(`${name}=(\\S+)`).exec(String(ready))?.[1] ?? ''
  const api = address('api')
  return {
    ...{ api, agents: address('agents'), pid: child.pid as number },
    async post(path, body) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      return (await fetch(api + path, init)).json() as Promise<{ data: { id: number } }>
    },
    get: async (path) => ((await (await fetch(api + path)).json()) as { data: never }).data,
    residentMb: () => residentMegabytes(child.pid as number),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** How long a Node that does nothing takes: what no service can be faster than. */
export async function measureBareNode(): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("x")'], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  const elapsed = performance.now() - began
  if (child.exitCode === null) await once(child, 'exit')
  return elapsed
}

/** Requests from a process of their own, so that sending them costs the service nothing but the cores they share. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'load.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout))
}

export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'agenthost-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const residentMegabytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
