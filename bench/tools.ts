/**
 * What supervision costs: calls, first calls and large answers through the supervisor, against the SDK's own client on
 * the same server; what offering tools to a run takes; and what a connected server takes of our memory.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToolset } from '../src/tools/toolset.ts'
import { EVERYTHING } from '../test/support/connection/connections.ts'
import { startEverything } from '../test/support/connection/everything-http.ts'
import { openSupervisorHouse } from '../test/support/supervisor-house.ts'
import { toolServer } from '../test/support/tool-server/files.ts'
import { atLeast, atMost, type Row } from './row.ts'
import { median, withFolder } from './service.ts'
import { bare, type Caller, type Entry, supervised } from './tool-callers.ts'
import { memory } from './tool-memory.ts'

const ROUNDS = 7
const CALLS = 400
/** Of each that calls at once with others. */
const CALLS_IN_CROWD = 50
const AT_ONCE = 32
const CONNECTS = 9
const OFFERED = 20
const OFFERS = 2000
const LARGE = 9_900_000
const LARGE_CALLS = 20
const NOTICED_MS = 10
const NS_IN_MS = 1_000_000
const HELLO = { message: 'hello' }
/** A secret to look for in every answer, as most servers have one. */
const SECRET = { API_TOKEN: 'token-of-the-benchmark' }

export async function tools(): Promise<Row[]> {
  return withFolder(async (home) => {
    const { entry } = await toolServer({ home }, 'bench', 'echo')
    const small = { ...entry, env: SECRET }
    await using web = await startEverything()
    return [
      ...(await calls('stdio', { command: process.execPath, args: [EVERYTHING], env: SECRET })),
      ...(await calls('HTTP', { url: web.url })),
      await firstCalls(small),
      await offers(home),
      await largeAnswers(small),
      await memory(home),
    ]
  })
}

/** Of the reference server, which answers as fast as the SDK lets it. */
async function calls(over: string, entry: Entry): Promise<Row[]> {
  await using ours = await supervised(entry)
  await using theirs = await bare(entry)
  const alone = { ours: [] as number[], theirs: [] as number[] }
  const crowd = { ours: [] as number[], theirs: [] as number[] }
  for (const caller of [ours, theirs]) await perSecond(caller)
  for (let round = 0; round < ROUNDS; round++) {
    alone.theirs.push(await lonely(theirs))
    alone.ours.push(await lonely(ours))
    crowd.theirs.push(await perSecond(theirs))
    crowd.ours.push(await perSecond(ours))
  }
  const [mine, bareMs] = [median(alone.ours), median(alone.theirs)]
  const [rate, bareRate] = [median(crowd.ours), median(crowd.theirs)]
  return [
    atMost(`call over ${over}, × the bare client`, mine / bareMs, 1.5, `p50 ${ms(mine)} and ${ms(bareMs)}`),
    atLeast(
      `calls/s over ${over}, ${AT_ONCE} at once, of the bare`,
      rate / bareRate,
      0.6,
      `${rate.toFixed(0)}/s and ${bareRate.toFixed(0)}/s`,
    ),
  ]
}

/** The median time of calls that nobody else disturbs. */
async function lonely({ call }: Caller): Promise<number> {
  const taken: number[] = []
  for (let n = 0; n < CALLS; n++) taken.push(await timed(() => call('echo', HELLO)))
  return median(taken)
}

async function perSecond({ call }: Caller): Promise<number> {
  const one = async () => {
    for (let n = 0; n < CALLS_IN_CROWD; n++) await call('echo', HELLO)
  }
  const taken = await timed(async () => void (await Promise.all(Array.from({ length: AT_ONCE }, one))))
  return ((AT_ONCE * CALLS_IN_CROWD) / taken) * 1000
}

/** From nothing to the first answer: files, process, handshake and, with us, the list of tools kept on disk. */
async function firstCalls(entry: Entry): Promise<Row> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let n = 0; n < CONNECTS; n++) {
    await using caller = await supervised(entry)
    ours.push(await timed(() => caller.call('echo', {})))
    const began = performance.now()
    await using plain = await bare(entry)
    await plain.call('echo', {})
    theirs.push(performance.now() - began)
  }
  const [mine, bareMs] = [median(ours), median(theirs)]
  return atMost('first call, × the bare client', mine / bareMs, 1.3, `${ms(mine)} and ${ms(bareMs)}`)
}

async function offers(home: string): Promise<Row> {
  await using house = await openSupervisorHouse()
  const names = Array.from({ length: OFFERED }, (_, n) => `tool-${n}`)
  await house.servers({ bench: (await toolServer({ home }, 'offers', ...names)).entry })
  await house.supervisor.sync(house.environment, 'all')
  const { store, supervisor } = house
  const toolset = createToolset({ store, supervisor })
  const wishes = { environment: 'default', environment_id: house.environment.id, tools: null, notify: false }
  const [offering, reading]: [number[], number[]] = [[], []]
  for (let n = 0; n < OFFERS; n++) {
    reading.push(await timed(() => store.tools.ofEnvironment(house.environment.id)))
    offering.push(await timed(() => toolset.offerTo(wishes)))
  }
  const note = `${(median(reading) * 1000).toFixed(0)} µs of it reading them from the database`
  return atMost(`offering ${OFFERED} tools to a run, ms`, median(offering), 1, note)
}

async function largeAnswers(entry: Entry): Promise<Row> {
  await using ours = await supervised(entry)
  await using theirs = await bare(entry)
  for (const { call } of [ours, theirs]) await call('echo', { bytes: LARGE })
  const [pauses, barePauses]: [number[], number[]] = [[], []]
  for (let n = 0; n < LARGE_CALLS; n++) {
    pauses.push(await longestPause(ours))
    barePauses.push(await longestPause(theirs))
  }
  const [mine, plain] = [median(pauses), median(barePauses)]
  const note = `${(mine / plain).toFixed(2)} × the bare client (${ms(plain)}), at worst ${ms(Math.max(...pauses))}`
  return atMost('longest loop pause, 9.9 MB answer, ms', mine, 50, note)
}

/** Of the event loop, while one answer comes in. A monitor that was stopped would count the time until it goes on. */
async function longestPause({ call }: Caller): Promise<number> {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  await call('echo', { bytes: LARGE })
  // The pause that brought the answer is noticed only after it.
  await sleep(NOTICED_MS)
  loop.disable()
  return loop.max / NS_IN_MS
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const ms = (value: number) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
