/** `npm run bench`: figures as ratios against a baseline of the same run. `-- --json` prints them for programs. */
import { measureBareNode, measureStart, median, withFolder } from './service.ts'
import { bareWrites, storeWrites } from './writes.ts'

interface Row {
  name: string
  value: number
  bar: number | null
  ok: boolean
  note: string
}

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
  return [
    info(
      'agents created per second, durable',
      stored,
      `${(stored / bare).toFixed(2)} of bare rows (${bare.toFixed(0)}/s)`,
    ),
  ]
}

const atMost = (name: string, value: number, bar: number, note: string): Row => ({
  name,
  value,
  bar,
  ok: value <= bar,
  note,
})
const info = (name: string, value: number, note: string): Row => ({ name, value, bar: null, ok: true, note })

const rows = [...(await starts()), ...(await writes())]
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`)
else for (const { name, value, bar, ok, note } of rows) process.stdout.write(line(name, value, bar, ok, note))

function line(name: string, value: number, bar: number | null, ok: boolean, note: string): string {
  const limit = bar === null ? '' : `bar ${bar}`
  return `${ok ? '✓' : '✗'} ${name.padEnd(38)} ${value.toFixed(0).padStart(8)}  ${limit.padEnd(9)} ${note}\n`
}
