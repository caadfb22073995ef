/** The service in this process, so that its own event loop can be watched while ten thousand runs wait. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from '../src/app.ts'
import { loadConfig } from '../src/config/load.ts'
import { createLog } from '../src/telemetry/log.ts'
import type { QueueFigures } from './queue.ts'
import { load, median } from './service.ts'

const QUEUED = 10_000
const LONE_RUNS = 5
const home = process.argv[2] ?? ''
const ports = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }
const { config } = loadConfig({ flags: { home }, env: ports, cwd: home })
const service = await startService({ config, log: createLog('silent') })

const call = async (method: string, path: string, body?: object) => {
  const json = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
  return (
    (await (await fetch(`${service.addresses.api}/api/v1${path}`, { method, ...json })).json()) as { data: never }
  ).data
}
const residentMb = () => {
  globalThis.gc?.()
  return process.memoryUsage.rss() / 1024 / 1024
}
const agent = async (name: string) =>
  ((await call('POST', '/agents', { name, prompt: 'Be a benchmark.' })) as { id: number }).id
const start = async (id: number, task: string) =>
  ((await call('POST', `/agents/${id}/run`, { task })) as { run_id: number }).run_id

const [busy, lone] = [await agent('busy'), await agent('lone')]
await start(lone, 'warm up')
const idle_mb = residentMb()
const body = JSON.stringify({ agent_id: busy, task: 'sleep 200\ncall nothing {}\nsleep 200' })
const port = Number(new URL(service.addresses.agents).port)
await load({ port, path: '/execute', body, connections: 20, seconds: 600, count: QUEUED })
const queued_mb = residentMb()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const waits: number[] = []
for (let n = 0; n < LONE_RUNS; n++) {
  const id = await start(lone, 'answer')
  const run = (await call('GET', `/runs/${id}?wait=30`)) as { created_at: string; started_at: string }
  waits.push(Date.parse(run.started_at) - Date.parse(run.created_at))
  await sleep(500)
}
delay.disable()
const figures: QueueFigures = {
  idle_mb,
  queued_mb,
  loop_p99_ms: delay.percentile(99) / 1e6,
  lone_start_ms: median(waits),
}
process.stdout.write(JSON.stringify(figures))
process.exit(0)
