/** Ten thousand runs of one agent waiting: what they cost, and whether another agent's lone run has to wait with them. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { atMost, type Row } from './row.ts'
import { AS_STARTED, withFolder } from './service.ts'

export interface QueueFigures {
  idle_mb: number
  queued_mb: number
  loop_p99_ms: number
  lone_start_ms: number
}

export async function queue(): Promise<Row[]> {
  return withFolder(async (home) => {
    const script = fileURLToPath(new URL('./queue-service.ts', import.meta.url))
    const child = spawn(process.execPath, [...AS_STARTED, '--expose-gc', script, home], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { idle_mb, queued_mb, loop_p99_ms, lone_start_ms }: QueueFigures = JSON.parse(await text(child.stdout))
    return [
      atMost('10,000 queued runs, MB over idle', queued_mb - idle_mb, 80, `${queued_mb.toFixed(0)} MB resident`),
      atMost('10,000 queued runs, loop delay p99, ms', loop_p99_ms, 50, 'while 32 execute'),
      atMost('lone run of another agent starts, ms', lone_start_ms, 200, 'median of 5, behind 10,000'),
    ]
  })
}
