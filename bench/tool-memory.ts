/** What a connected stdio server takes of the service's own memory; the processes of the servers are their own affair. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serverFile, toolServer } from '../test/support/tool-server/files.ts'
import { atMost, type Row } from './row.ts'
import { median, runService, withFolder } from './service.ts'
import type { Entry } from './tool-callers.ts'

const SERVERS = 32
const ROUNDS = 3
/** What is left of connecting is collected by then. */
const SETTLE_MS = 3000

export async function memory(home: string): Promise<Row> {
  const { entry } = await toolServer({ home }, 'memory', 'echo')
  const [without, full]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await residentWith(0, entry))
    full.push(await residentWith(SERVERS, entry))
  }
  const [none, many] = [median(without), median(full)]
  const note = `${none.toFixed(0)} MB without, ${many.toFixed(0)} MB with ${SERVERS}`
  return atMost('resident for a connected stdio server, MB', (many - none) / SERVERS, 1, note)
}

async function residentWith(count: number, entry: Entry): Promise<number> {
  return withFolder(async (home) => {
    const servers = Object.fromEntries(Array.from({ length: count }, (_, n) => [`server-${n}`, entry]))
    await mkdir(join(home, 'environments/default'), { recursive: true })
    await writeFile(join(home, 'environments/default/servers.json'), serverFile(servers))
    const service = await runService(home, { SVC_LOG_LEVEL: 'silent' })
    const up = async () => (await service.get<{ status: string }[]>('/api/v1/mcp-servers')).filter(isUp).length
    while ((await up()) < count) await sleep(100)
    await sleep(SETTLE_MS)
    const resident = service.residentMb()
    await service.kill()
    return resident
  })
}

const isUp = ({ status }: { status: string }) => status === 'up'
