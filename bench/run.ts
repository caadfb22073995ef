/** `npm run bench`: figures as ratios against a baseline of the same run. `-- --json` prints them for programs. */
import { accepts } from './accepts.ts'
import { lists } from './lists.ts'
import { queue } from './queue.ts'
import { recovery } from './recovery.ts'
import { atMost, info, line, type Row } from './row.ts'
import { measureBareNode, measureStart, median, withFolder } from './service.ts'
import { steps } from './steps.ts'
import { tools } from './tools.ts'
import { bareWrites, storeWrites } from './writes.ts'

const STARTS = 7

async function starts(): Promise<Row[]> {
  return withFolder(async (home) => {
    await measureStart(home)
    const services = []
    const bare = []
    for (let run = 0; run < STARTS; run++) {
      services.push(await measureStart(home))
      bare.push(await measureBareNode())
    }
    const ready = median(services.map(({ ready_ms }) => ready_ms))
    const resident = median(services.map(({ resident_mb }) => resident_mb))
    return [
      atMost('start to ready, ms', ready, 1500, `${(ready / median(bare)).toFixed(1)} × a bare Node`),
      atMost('resident when ready, MB', resident, 170, ''),
    ]
  })
}

async function writes(): Promise<Row[]> {
  const stored = await withFolder(storeWrites)
  const bare = await withFolder(async (folder) => bareWrites(folder))
  const note = `${(stored / bare).toFixed(2)} of bare rows (${bare.toFixed(0)}/s)`
  return [info('agents created per second, durable', stored, note)]
}

const PARTS = { starts, writes, accepts, steps, tools, recovery, queue, lists }
const asked = process.argv.slice(2).filter((word) => word in PARTS) as (keyof typeof PARTS)[]
const isJson = process.argv.includes('--json')

for (const name of asked.length > 0 ? asked : (Object.keys(PARTS) as (keyof typeof PARTS)[])) {
  for (const row of await PARTS[name]()) process.stdout.write(isJson ? `${JSON.stringify(row)}\n` : line(row))
}
