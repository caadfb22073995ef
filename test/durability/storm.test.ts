// A storm of kill -9: clients go on posting while the service is killed again and again at random moments.
//
//   STORM_KILLS=300 STORM_RUNS=20000 SEED=7 npx vitest run test/durability/storm.test.ts
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Client, createClient } from '../support/crash/client.ts'
import { createLives, type Lives } from '../support/crash/lives.ts'
import { type Dice, dice } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { expectGoodHistory } from './history.ts'

const KILLS = Number(process.env.STORM_KILLS ?? 30)
const RUNS = Number(process.env.STORM_RUNS ?? 500)
const CLIENTS = 8
/** A life lasts this long after its ready line, at least, and at most so much longer. */
const SHORTEST_LIFE_MS = 20
const LONGER_MS = 300
/** On a machine that takes longer than this to start, lives are longer as well: less is done in the same time. */
const USUAL_START_MS = 800
/** After the last start everything has an end within a minute; a very long queue may take as long as it takes. */
const ALL_ENDED_MS = Math.max(60_000, RUNS * 5)
/** Fewer at once get further in a short life. */
const AT_ONCE = '12'
/** One in so many is cancelled, and one in so many posted twice at once. */
const CANCELLED_OF = 12
const DOUBLED_OF = 10

/** Short, so that hardly a run is there at five kills; what it waits for makes kills meet it at every step. */
function taskFrom({ roll }: Dice): string {
  const call = (tool: string) => `call ${tool} ${JSON.stringify({ ms: roll(8), bytes: roll(4000) })}`
  const shapes = [
    () => 'Good morning.',
    () => `sleep ${roll(20)}`,
    () => [call('lookup'), call('pay'), call('put')].join('\n'),
    () => [call('pay'), `sleep ${roll(10)}`, call('pay')].join('\n'),
    () => [call('fail'), call('big'), call('lookup')].join('\n'),
    () => [call('put'), call('put'), call('pay'), call('slow')].join('\n'),
  ]
  return shapes[roll(shapes.length) - 1]?.() ?? ''
}

interface Work {
  client: Client
  seed: number
  /** Takes the number of the next run; waits when this life has had its part. */
  next(): Promise<number | undefined>
}

async function postAll({ client, seed, next }: Work): Promise<void> {
  for (let number = await next(); number !== undefined; number = await next()) {
    // Of its own, so that the same seed gives the same runs, whichever client posts them.
    const luck = dice(seed + number * 7919)
    const task = taskFrom(luck)
    const isCancelled = luck.roll(CANCELLED_OF) === 1
    const post = () => client.execute({ agent: 'worker', key: `run ${number}`, task })
    const [id] = await Promise.all(luck.roll(DOUBLED_OF) === 1 ? [post(), post()] : [post()])
    if (isCancelled && id !== undefined) await client.cancel(id)
  }
}

/** Starts the next life, and tells how slow the machine is just now. */
async function paceOf(lives: Lives): Promise<number> {
  const began = performance.now()
  await lives.start()
  return Math.max(1, (performance.now() - began) / USUAL_START_MS)
}

test(
  `${KILLS} kill -9 over ${RUNS} runs lose, repeat and forget nothing`,
  async () => {
    const luck = dice()
    const env = { SVC_MAX_CONCURRENT_RUNS: AT_ONCE }
    await using lives = await createLives({ promises: { '': { trusted: true } }, env })
    const client = createClient(lives.current)
    let taken = 0
    let allowed = 0
    const next = async () => {
      await until('the next run may be posted', () => taken >= RUNS || taken < allowed)
      return taken < RUNS ? ++taken : undefined
    }
    let pace = await paceOf(lives)
    await client.createAgent({ name: 'worker', prompt: 'Work.' })
    const posting = Promise.all(Array.from({ length: CLIENTS }, () => postAll({ client, seed: luck.seed, next })))
    for (let kill = 1; kill <= KILLS; kill++) {
      allowed = Math.ceil((RUNS * kill) / KILLS)
      await delay(pace * (SHORTEST_LIFE_MS + luck.roll(LONGER_MS)))
      expect(await lives.current()?.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
      pace = await paceOf(lives)
    }
    const lastStart = Date.now()
    await posting
    const hint = `seed ${luck.seed}`
    const { verdict, records } = await expectGoodHistory({ lives, client, hint })
    const lastEnd = Math.max(...records.map(({ completed_at }) => Date.parse(completed_at ?? '')))
    expect(records.length, hint).toBe(RUNS)
    // By design a run that was there at five kills is given up; a storm of such runs would prove nothing.
    expect(verdict.poisoned, hint).toBeLessThanOrEqual(Math.ceil(RUNS / 20))
    expect(lastEnd - lastStart, hint).toBeLessThan(ALL_ENDED_MS)
    const { violations: _, ...figures } = verdict
    const summary = { seed: luck.seed, kills: KILLS, ...figures, last_end_ms: lastEnd - lastStart }
    process.stdout.write(`storm: ${JSON.stringify(summary)}\n`)
  },
  120_000 + KILLS * 3000 + RUNS * 20,
)
