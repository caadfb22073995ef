/** Durable accepts through `POST /execute` against a bare server that stores the same row in the same way. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadResult } from './load.ts'
import { atLeast, atMost, info, type Row } from './row.ts'
import { load, type RunningService, runService, withFolder } from './service.ts'

const SECONDS = 5
/** Runs that sleep, one at a time: what is measured is accepting, not executing. */
const AGENT = { name: 'bench', prompt: 'You are a benchmark.', max_concurrency: 1 }
const BODY = JSON.stringify({ agent_name: 'bench', task: 'sleep 3600000' })

export async function accepts(): Promise<Row[]> {
  const bare = await withFolder(measureBare)
  const { full, steady } = await withFolder(measureService)
  const fsync = await withFolder(async (folder) => fsyncMs(folder))
  const ratio = full.per_second / bare.per_second
  return [
    atLeast(
      'durable accepts, of a bare server',
      ratio,
      0.6,
      `${full.per_second.toFixed(0)}/s of ${bare.per_second.toFixed(0)}/s`,
    ),
    atMost(
      'accept p99 at 500/s, ms',
      steady.p99_ms,
      10 + 3 * fsync,
      `p50 ${steady.p50_ms.toFixed(1)} ms, fsync ${fsync.toFixed(2)} ms`,
    ),
    info('accepts refused', full.refused + steady.refused, ''),
  ]
}

async function measureBare(folder: string): Promise<LoadResult> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-accepts.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  await load({ port: Number(line), path: '/', body: BODY, connections: 100, seconds: 1 })
  const result = await load({ port: Number(line), path: '/', body: BODY, connections: 100, seconds: SECONDS })
  child.kill('SIGKILL')
  await once(child, 'exit')
  return result
}

async function measureService(home: string): Promise<{ full: LoadResult; steady: LoadResult }> {
  const service = await runService(home, { SVC_LOG_LEVEL: 'silent', SVC_MAX_QUEUED_RUNS: '10000000' })
  try {
    await service.post('/api/v1/agents', AGENT)
    const port = portOf(service)
    await load({ port, path: '/execute', body: BODY, connections: 100, seconds: 1 })
    const full = await load({ port, path: '/execute', body: BODY, connections: 100, seconds: SECONDS })
    const steady = await load({ port, path: '/execute', body: BODY, connections: 50, seconds: SECONDS, rate: 500 })
    return { full, steady }
  } finally {
    await service.kill()
  }
}

const portOf = ({ agents }: RunningService) => Number(new URL(agents).port)

/** The p99 of small appends made durable: what no accept can be quicker than. */
function fsyncMs(folder: string): number {
  const file = openSync(join(folder, 'fsync'), 'w')
  const times = Array.from({ length: 500 }, () => {
    const began = performance.now()
    writeSync(file, Buffer.alloc(4096))
    fsyncSync(file)
    return performance.now() - began
  })
  closeSync(file)
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}
