// An hour in the life of tool servers, shortened by count: killed, crashing, changed, crowded out and left alone, again
// and again. At the end there is no more of anything than at the beginning.
import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createOneAtATime } from '../../src/catalog/one-at-a-time.ts'
import { inLanes } from '../support/lanes.ts'
import { isAlive } from '../support/processes.ts'
import { type Dice, dice } from '../support/seed.ts'
import { openSupervisorHouse, type SupervisorHouse } from '../support/supervisor-house.ts'
import { type ToolServer, toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

const ROUNDS = 200
const WARM_UP_ROUNDS = 40
const LANES = 3
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const MOST_PROCESSES = 4
/** Processes on their way out, beside those that the cap counts: at most one for each that comes in. */
const MOST_AT_ONCE = MOST_PROCESSES + LANES
const TIMING = { first_ms: 20, longest_ms: 100, list_pause_ms: 10, idle_ms: 400 }
const LOOK_MS = 25
const SETTLES_MS = 10_000
const MB = 1024 * 1024

interface Churn {
  house: SupervisorHouse
  servers: Map<string, ToolServer>
  luck: Dice
  /** Resolves with what the server answered, once it does. */
  works(name: string): Promise<{ pid: number; label: string }>
  /** Gives the server another configuration and syncs. */
  change(name: string): Promise<string>
  alive(): number[]
}

async function openChurn(house: SupervisorHouse): Promise<Churn> {
  const made = NAMES.map(async (name) => [name, await toolServer(house, name, `tool_${name}`)] as const)
  const servers = new Map(await Promise.all(made))
  const labels = new Map<string, string>()
  const write = () =>
    house.servers(
      Object.fromEntries([...servers].map(([name, { entry }]) => [name, { ...entry, env: labelled(name) }])),
    )
  const labelled = (name: string) => ({ LABEL: labels.get(name) ?? '' })
  await write()
  const inTurn = createOneAtATime()
  let changes = 0
  return {
    ...{ house, servers, luck: dice() },
    works: (name) =>
      until(`${name} works`, () =>
        house.call(name, `tool_${name}`).then(
          ({ output }) => JSON.parse(String(output)),
          () => false,
        ),
      ),
    async change(name) {
      const label = String(++changes).padStart(4, '0')
      labels.set(name, label)
      // As one person would: nobody reads a file that another is still writing.
      await inTurn('the file', async () => {
        await write()
        await house.supervisor.sync(house.environment, 'changed')
      })
      return label
    },
    alive: () => [...servers.values()].flatMap((server) => server.starts()).filter(isAlive),
  }
}

const ACTIONS: ((churn: Churn, name: string) => Promise<void>)[] = [
  async function killed({ works }, name) {
    const { pid } = await works(name)
    process.kill(pid, 'SIGKILL')
    await until('another process answers', async () => (await works(name)).pid !== pid)
  },
  async function crashing({ house, works }, name) {
    await house.call(name, `tool_${name}`, { exit: 1 }).catch(() => undefined)
    await works(name)
  },
  async function changed({ change, works }, name) {
    const label = await change(name)
    await until('the new one answers', async () => (await works(name)).label >= label)
  },
  async function listedAnew({ house, servers, works }, name) {
    await servers.get(name)?.offers(`tool_${name}`, `more_${name}`)
    await house.call(name, `tool_${name}`, { changed: true }).catch(() => undefined)
    await servers.get(name)?.offers(`tool_${name}`)
    await works(name)
  },
  async function crowdedOut({ works }) {
    for (const name of NAMES) await works(name)
  },
  async function leftAlone({ house, works }, name) {
    await works(name)
    await until('it rests', async () => (await house.server(name))?.status === 'idle')
  },
]

/** Returns how many processes there were at the most. */
async function live(churn: Churn, rounds: number): Promise<number> {
  let most = 0
  const look = setInterval(() => {
    most = Math.max(most, churn.alive().length)
  }, LOOK_MS)
  await inLanes(LANES, Array(rounds).keys(), async () => {
    const act = ACTIONS[churn.luck.roll(ACTIONS.length) - 1]
    await act?.(churn, NAMES[churn.luck.roll(NAMES.length) - 1] ?? 'a')
  })
  clearInterval(look)
  return most
}

/** Once everything rests. */
async function holdings({ house, servers, alive }: Churn) {
  for (const [name, server] of servers) await server.offers(`tool_${name}`)
  await house.supervisor.sync(house.environment, 'all')
  await until('every server rests', () => alive().length === 0)
  const { total } = await house.store.servers.list({}, { page: 1, limit: 1 })
  const tools = await house.store.tools.ofEnvironment(house.environment.id)
  return { heap: usedHeap(), files: openFiles(), rows: { servers: total, tools: tools.length } }
}

function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

const openFiles = () => readdirSync('/proc/self/fd').length

test(`after ${ROUNDS} rounds of churn there are no more processes, files, rows and bytes than before`, async () => {
  await using house = await openSupervisorHouse({ timing: TIMING, mostProcesses: MOST_PROCESSES })
  const churn = await openChurn(house)
  const hint = `seed ${churn.luck.seed}`
  const warnings: Error[] = []
  const warn = (warning: Error) => void warnings.push(warning)
  process.on('warning', warn)
  await live(churn, WARM_UP_ROUNDS)
  const before = await holdings(churn)
  const most = await live(churn, ROUNDS - WARM_UP_ROUNDS)
  const after = await holdings(churn)
  process.off('warning', warn)
  const starts = [...churn.servers.values()].flatMap((server) => server.starts()).length
  process.stdout.write(`churn: ${JSON.stringify({ seed: churn.luck.seed, starts, most, before, after })}\n`)
  expect(most, hint).toBeLessThanOrEqual(MOST_AT_ONCE)
  expect(after.rows, hint).toEqual({ servers: NAMES.length, tools: NAMES.length })
  await until(`no more files are open (${hint})`, () => openFiles() <= before.files + 2, SETTLES_MS)
  expect(after.heap, hint).toBeLessThan(before.heap + 8 * MB)
  expect(warnings, hint).toEqual([])
}, 120_000)
