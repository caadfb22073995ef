// Random sequences of what happens to runs, against a list in memory: statuses, totals, and what waits.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ErrorCode } from '../../src/contract/errors.ts'
import type { RunStatus } from '../../src/contract/run.ts'
import type { RunFilter } from '../../src/store/runs/reads.ts'
import type { Store } from '../../src/store/store.ts'
import { AT, outcome } from './sample.ts'
import { acceptId, createRunnable, DONE, end, everyRun, FAILED, type RunnableAgent, tryClaim } from './sample-runs.ts'
import type { OpenStore } from './suite.ts'

const MOST_CRASHES = 5

type Change =
  | { kind: 'accept'; agent: number }
  | { kind: 'claim' | 'end'; nth: number; owner: string; failed: boolean; stale: boolean }
  | { kind: 'release' | 'cancel'; nth: number; stale: boolean }
  | { kind: 'restart' }
  | { kind: 'remove'; age: number; limit: number }

interface ModelRun {
  id: number
  agent: number
  status: RunStatus
  phase: 'queued' | 'executing' | 'recovering'
  owner: string | null
  epoch: number
  crashes: number
  cancelled: boolean
  ended: number
}

const nth = fc.nat({ max: 12 })
const owner = fc.constantFrom('one', 'two', 'three')
const stale = fc.integer({ min: 1, max: 4 }).map((die) => die === 1)
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('accept'), agent: fc.nat({ max: 2 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('claim', 'end'), nth, owner, failed: fc.boolean(), stale }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('release', 'cancel'), nth, stale }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('remove'), age: fc.nat({ max: 10 }), limit: fc.constantFrom(1, 3, 100) }),
  },
)
/** Each inner list is handed over in one tick. */
const sequence = fc.array(fc.array(change, { minLength: 1, maxLength: 8 }), { maxLength: 12 })

class Model {
  runs: ModelRun[] = []
  now = 0

  private end(run: ModelRun, status: RunStatus) {
    Object.assign(run, { status, owner: null, ended: this.now })
  }

  accept(agent: number): ModelRun {
    const fresh = { status: 'running', phase: 'queued', owner: null, epoch: 0, crashes: 0, cancelled: false } as const
    const run: ModelRun = { ...fresh, id: Number.NaN, agent, ended: 0 }
    this.runs.push(run)
    return run
  }

  /** Whether there is something to execute. */
  claim(run: ModelRun, owner: string): boolean {
    if (run.status !== 'running') return false
    if (run.owner !== null && run.owner !== owner) run.crashes++
    Object.assign(run, { owner, epoch: run.epoch + 1, phase: 'executing' })
    if (run.cancelled || run.crashes >= MOST_CRASHES) this.end(run, 'error')
    return run.status === 'running'
  }

  /** Whether the run is, or was at its end, the caller's own. */
  finish(run: ModelRun, epoch: number, failed: boolean): boolean {
    const isOpen = run.epoch === epoch && run.status === 'running'
    if (isOpen) this.end(run, failed || run.cancelled ? 'error' : 'completed')
    return run.epoch === epoch
  }

  release(run: ModelRun, epoch: number) {
    if (run.epoch === epoch && run.status === 'running') Object.assign(run, { owner: null, phase: 'recovering' })
  }

  cancel(run: ModelRun): ErrorCode | 'ok' {
    if (run.status !== 'running') return 'RUN_ALREADY_FINISHED'
    run.cancelled = true
    return 'ok'
  }

  restart() {
    for (const run of this.runs) {
      if (run.status === 'running' && run.phase === 'executing') run.phase = 'recovering'
    }
  }

  remove(before: number, limit: number): number {
    const old = this.runs.filter((run) => run.status !== 'running' && run.ended < before)
    const gone = new Set(old.toSorted((a, b) => a.ended - b.ended).slice(0, limit))
    this.runs = this.runs.filter((run) => !gone.has(run))
    return gone.size
  }
}

/** Does the change in the model at once and in the store, and resolves when both agree on the answer. */
async function apply(store: Store, model: Model, agents: RunnableAgent[], known: ModelRun[], change: Change) {
  const at = AT + ++model.now
  if (change.kind === 'accept') {
    const run = model.accept(change.agent)
    run.id = await acceptId(store, agents[change.agent] as RunnableAgent, { at })
  } else if (change.kind === 'restart') {
    model.restart()
    await store.write('markInterrupted', null)
  } else if (change.kind === 'remove') {
    const { age, limit } = change
    const expected = model.remove(model.now - age, limit)
    expect(await store.write('removeEndedRuns', { ended_before: at - age, limit })).toBe(expected)
  } else {
    const run = known[change.nth % Math.max(1, known.length)]
    // One that retention took in this very tick has nothing more to say.
    if (run && model.runs.includes(run)) await applyTo(store, model, run, change, at)
  }
}

type RunChange = Extract<Change, { nth: number }>

async function applyTo(store: Store, model: Model, run: ModelRun, change: RunChange, at: number) {
  const epoch = change.stale ? run.epoch - 1 : run.epoch
  const held = { id: run.id, epoch }
  if (change.kind === 'claim') {
    const expected = model.claim(run, change.owner)
    expect((await tryClaim(store, run.id, change.owner, at)) !== null).toBe(expected)
  } else if (change.kind === 'end') {
    const expected = model.finish(run, epoch, change.failed)
    expect((await end(store, held, change.failed ? FAILED : DONE, at)).owned).toBe(expected)
  } else if (change.kind === 'release') {
    model.release(run, epoch)
    await store.write('releaseRun', { run_id: run.id, epoch })
  } else {
    const expected = model.cancel(run)
    expect(await outcome(store.write('requestCancel', { id: run.id, at }))).toBe(expected)
  }
}

async function expectSame(store: Store, model: Model, agents: RunnableAgent[]): Promise<void> {
  const agentOf = ({ agent }: ModelRun) => agents[agent] as RunnableAgent
  const newestFirst = model.runs.toSorted((a, b) => b.id - a.id)
  for (const status of [undefined, 'running', 'completed', 'error'] as const) {
    const scopes: (RunFilter & { fits: (run: ModelRun) => boolean })[] = [
      ...agents.map(({ id }) => ({ agent_id: id, fits: (run: ModelRun) => agentOf(run).id === id })),
      ...agents.map(({ environment }) => ({
        environment,
        fits: (run: ModelRun) => agentOf(run).environment === environment,
      })),
    ]
    for (const { fits, ...scope } of scopes) {
      const expected = newestFirst.filter((run) => fits(run) && (status === undefined || run.status === status))
      // The rows themselves and the counter, which must be the same.
      const listed = await everyRun(store, { ...scope, status })
      expect(listed.map((run) => [run.id, run.status])).toEqual(expected.map((run) => [run.id, run.status]))
      const { total } = await store.runs.list({ ...scope, status }, { page: 1, limit: 1 })
      expect(total).toBe(expected.length)
    }
  }
  const mine = new Set(agents.map(({ id }) => id))
  const waiting = (await store.runs.waiting(0, 10_000)).filter(({ agent_id }) => mine.has(agent_id))
  expect(waiting.map(({ id, interrupted }) => [id, interrupted])).toEqual(
    newestFirst
      .filter(({ status, phase }) => status === 'running' && phase !== 'executing')
      .map(({ id, phase }) => [id, phase === 'recovering'])
      .toReversed(),
  )
}

export function runModelFacts(open: OpenStore): void {
  test('statuses, answers, the queue and every total are those of a list in memory, also after a reopening', async () => {
    await using opened = await open()
    let { store } = opened
    let rounds = 0
    const property = fc.asyncProperty(sequence, async (groups) => {
      rounds++
      // Others' runs are out of the way: what waits or executes is ended, what ended is removed.
      await clearAway(store)
      const places = [0, 1, 1].map((place) => `round${rounds}-${place}`)
      const agents: RunnableAgent[] = []
      for (const [index, place] of places.entries()) agents.push(await createRunnable(store, `agent ${index}`, place))
      const model = new Model()
      for (const group of groups) {
        // Ids are known once the tick is over, so changes of a group pick from what was there before it.
        const known = [...model.runs]
        await Promise.all(group.map((change) => apply(store, model, agents, known, change)))
      }
      await expectSame(store, model, agents)
      if (rounds % 10 === 0) store = await opened.reopen()
      await expectSame(store, model, agents)
    })
    await fc.assert(property, { numRuns: 40 })
  })
}

async function clearAway(store: Store): Promise<void> {
  for (const { id } of await everyRun(store, { status: 'running' })) {
    await store.write('requestCancel', { id, at: AT })
    await tryClaim(store, id, 'clearing')
  }
  await store.write('removeEndedRuns', { ended_before: Number.MAX_SAFE_INTEGER, limit: 10_000 })
  expect(await store.runs.list({}, { page: 1, limit: 1 })).toEqual({ items: [], total: 0 })
}
