// Trouble at every write, for each run at another one, two lives in a row: the process is killed when all runs stand
// still, each before or after a write of its own; the database refuses a write or loses its answer; somebody else
// takes the run. In the third life all of them reach their end. The model is a server of its own here, so that its
// calls are counted as those of the tools are, and so that calls come in parallel.
import { expect } from 'vitest'
import { proves } from '../spec/proves.ts'
import { type Client, createClient } from '../support/crash/client.ts'
import { createLives } from '../support/crash/lives.ts'
import { inLanes } from '../support/lanes.ts'
import type { LedgerLine } from '../support/ledger/line.ts'
import { calls, type ModelServerRequest, type Reply, says, startModelServer } from '../support/model-server.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'
import { expectGoodHistory } from './history.ts'

type Call = [tool: string, input: object, id: string]

interface Shape {
  turns: Call[][]
  writes: number
  /** Too many pairs to try them all: each point alone. */
  isLong?: boolean
}

const LONG = ['lookup', 'pay', 'put', 'big', 'pay', 'fail', 'lookup', 'pay', 'slow', 'put']

/** What the model calls, turn by turn; after the last one it answers. And how many writes a run has, without its accept. */
const SHAPES: Record<string, Shape> = {
  'no tools': { turns: [], writes: 2 },
  'a failing tool': { turns: [[['fail', {}, 'a']]], writes: 4 },
  'three calls': { turns: [[['lookup', {}, 'a']], [['pay', {}, 'a']], [['put', {}, 'a']]], writes: 8 },
  'a long one': { turns: LONG.map((tool) => [[tool, { bytes: 10_000 }, 'a']]), writes: 22, isLong: true },
  // Each answer has its own time, so that each has a commit of its own; on a busy machine two may share one.
  'calls in parallel': {
    turns: [
      [
        ['pay', { ms: 1 }, 'a'],
        ['lookup', { ms: 200 }, 'b'],
        ['pay', { ms: 400 }, 'c'],
      ],
    ],
    writes: 6,
  },
}

interface Planned {
  shape: string
  key: string
  /** See trouble.ts. */
  trouble: string
  /** Whether the first life gets as far as the trouble. */
  isReached: boolean
}

const upTo = (writes: number) => Array.from({ length: writes }, (_, index) => index + 1)
const kills = (writes: number) => upTo(writes).flatMap((n) => [`before:${n}`, `after:${n}`])

function planFor([shape, { writes, isLong }]: [string, Shape]): Planned[] {
  // Beyond the last write: never reached, which shows that no write was left out.
  const beyond = `before:${writes + 1}`
  const seconds = isLong ? [beyond] : [...kills(writes), beyond]
  const pairs = kills(writes).flatMap((first) => seconds.map((second) => `${first} ${second}`))
  const stolen = upTo(writes).flatMap((n) => [`steal:${n}`, `steal:${n} after:1`, `steal:${n} before:2`])
  const failures = upTo(writes).flatMap((n) => [`refuse:${n}`, `lose:${n}`])
  const plan = (trouble: string, isReached = true) => ({ shape, trouble, isReached, key: `${shape} ${trouble}` })
  return [...[...pairs, ...stolen, ...failures].map((trouble) => plan(trouble)), plan(beyond, false)]
}

const RUNS = Object.entries(SHAPES).flatMap(planFor)

const turnOf = ({ body }: ModelServerRequest) => body.messages?.filter(({ role }) => role === 'assistant').length ?? 0
const keyOf = ({ body }: ModelServerRequest) => String(body.messages?.find(({ role }) => role === 'user')?.content)
const shapeOf = (key: string) => Object.keys(SHAPES).find((shape) => key.startsWith(shape)) ?? ''

function replyTo(request: ModelServerRequest): Reply {
  const [first, ...more] = SHAPES[shapeOf(keyOf(request))]?.turns[turnOf(request)] ?? []
  return first ? calls(first, ...more) : says('Done.')
}

/** The model's side of the story in the ledger's words; the path tells which life asked. */
function toLine(request: ModelServerRequest, runs: ReadonlyMap<string, number>): LedgerLine {
  const key = `${runs.get(keyOf(request))}:${turnOf(request) + 1}`
  const life = Number(/life-(\d+)/.exec(request.path)?.[1])
  return { at: request.at, life, phase: 'begin', tool: 'model', key, input: {} }
}

proves(
  ['engine.crash-continues', 'engine.no-step-twice', 'engine.terminal-once'],
  'every run survives two crashes at any two of its writes, a failing database at any one, and losing its owner',
  async () => {
    await using model = await startModelServer(replyTo)
    const promises = { '': { trusted: true } }
    await using lives = await createLives({ promises, env: { SVC_MAX_CONCURRENT_RUNS: '5000' } })
    const client = createClient(lives.current)
    const begin = (trouble: boolean) => {
      const url = `${model.url}/life-${lives.count() + 1}`
      return lives.start({ trouble, env: { SVC_AI_BASE_URL: url, SVC_AI_MODEL: 'scripted' } })
    }
    const runs = new Map<string, number>()

    const first = await begin(true)
    await client.createAgent({ name: 'worker', prompt: 'Work.' })
    await inLanes(8, RUNS, async ({ key, trouble }) => {
      runs.set(key, await client.execute({ agent: 'worker', key, task: key, variables: { trouble } }))
    })
    await allTroubledOrEnded(first, client, [...runs.values()])
    const reached = troubled(first)
    const asPlanned = RUNS.filter(({ key, isReached }) => reached.has(runs.get(key) ?? 0) === isReached)
    expect(RUNS.filter((run) => run.shape !== 'calls in parallel' && !asPlanned.includes(run))).toEqual([])
    expect(asPlanned.length).toBeGreaterThan(RUNS.length * 0.9)
    await first.end('SIGKILL')

    const second = await begin(true)
    await allTroubledOrEnded(second, client, [...runs.values()])
    await second.end('SIGKILL')

    await begin(false)
    const models = () => model.requests.map((request) => toLine(request, runs))
    const { verdict } = await expectGoodHistory({ lives, client, models })
    expect(verdict).toMatchObject({ runs: RUNS.length, poisoned: 0 })
  },
  120_000,
)

const troubled = ({ stderr }: ServiceProcess): Set<number> =>
  new Set([...stderr().matchAll(/^trouble (\d+)$/gm)].map(([, digits]) => Number(digits)))

/** Those that the database failed go on to their end; the others stand still. */
async function allTroubledOrEnded(service: ServiceProcess, client: Client, ids: number[]): Promise<void> {
  const open = new Set(ids)
  await until('every run stands still or has ended', async () => {
    for (const id of troubled(service)) open.delete(id)
    for (const id of [...open].slice(0, 20)) if ((await client.run(id)).status !== 'running') open.delete(id)
    return open.size === 0
  })
}
