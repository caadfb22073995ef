/** From a kill -9 with every slot taken to every one of those runs executing again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, type Row } from './row.ts'
import { type RunningService, runService, withFolder } from './service.ts'

const SLOTS = 32
const WAITING = 1000

export async function recovery(): Promise<Row[]> {
  return withFolder(async (home) => {
    const before = await runService(home, { SVC_LOG_LEVEL: 'silent' })
    const { data } = await before.post('/api/v1/agents', { name: 'bench', prompt: 'You are a benchmark.' })
    for (let n = 0; n < SLOTS + WAITING; n++) {
      await before.post(`/api/v1/agents/${data.id}/run`, { task: 'sleep 3600000' })
    }
    await until(async () => (await executing(before)) === SLOTS)
    await before.kill()
    const after = await runService(home, { SVC_LOG_LEVEL: 'silent' })
    const ready = performance.now()
    await until(async () => (await executing(after)) === SLOTS)
    const elapsed = performance.now() - ready
    await after.kill()
    return [
      atMost('all slots executing after kill -9, ms', elapsed, 1000, `after the ready line; ${WAITING} more waiting`),
    ]
  })
}

const executing = async ({ get }: RunningService) =>
  (await get<{ runs: { executing: number } }>('/api/v1/health')).runs.executing

async function until(fact: () => Promise<boolean>): Promise<void> {
  while (!(await fact())) await sleep(5)
}
