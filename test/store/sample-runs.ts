// Runs as the store's tests need them: accepted, claimed, recorded and ended in one line each.
import { expect } from 'vitest'
import type { Run, RunSource } from '../../src/contract/run.ts'
import type { AcceptRun } from '../../src/store/runs/accept-write.ts'
import type { Ending } from '../../src/store/runs/end-write.ts'
import type { Entry, Intent, Outcome } from '../../src/store/runs/journal-write.ts'
import type { RunFilter } from '../../src/store/runs/reads.ts'
import type { OfferedToolset } from '../../src/store/runs/toolsets-write.ts'
import type { Store } from '../../src/store/store.ts'
import { AT, createAgent, createEnvironment, everyPage } from './sample.ts'

export type RunnableAgent = AcceptRun['agent']

export async function createRunnable(store: Store, name = 'worker', environment = 'default'): Promise<RunnableAgent> {
  const environment_id = await createEnvironment(store, environment)
  const { id, version } = await createAgent(store, environment_id, name)
  return { id, name, version, environment_id, environment }
}

export const SOURCE: RunSource = {
  ...{ type: 'api', principal: 'somebody', address: '127.0.0.1' },
  ...{ user_agent: 'test/1', request_id: 'r-1' },
}

export const accept = (store: Store, agent: RunnableAgent, more: Partial<AcceptRun> = {}) =>
  store.write('acceptRun', {
    ...{ agent, task: 'Do it', variables: {}, model: 'offline/offline', timeout_seconds: 900, source: SOURCE },
    messages: [{ role: 'user', content: 'Do it' }],
    ...{ callback_url: null, request_key: null, full: false, at: AT },
    ...more,
  })

export const acceptId = async (store: Store, agent: RunnableAgent, more: Partial<AcceptRun> = {}): Promise<number> =>
  (await accept(store, agent, more)).answer.run_id

export const tryClaim = async (store: Store, id: number, owner = 'one', at = AT) =>
  (await store.write('claimRun', { id, owner, at })).run

export async function claim(store: Store, id: number, owner = 'one', at = AT) {
  const run = await tryClaim(store, id, owner, at)
  expect(run, `run ${id} can be executed`).not.toBeNull()
  return run as NonNullable<typeof run>
}

export const DONE: Ending = { result: 'Done.', message: 'The run completed' }
export const FAILED: Ending = { code: 'MODEL_ERROR', message: 'The model is not there' }

/** What an owner says of a run that it holds. */
export interface Held {
  id: number
  epoch: number
}

interface Recording {
  entries?: Entry[]
  ending?: Ending | null
  consumed_ms?: number
  toolset?: OfferedToolset | null
  at?: number
}

export const record = (store: Store, { id, epoch }: Held, { entries = [], ending = null, ...more }: Recording) =>
  store.write('recordSteps', { run_id: id, epoch, consumed_ms: 0, entries, ending, at: AT, ...more })

export const end = (store: Store, held: Held, ending: Ending = DONE, at = AT) => record(store, held, { ending, at })

/** Accepts, claims and ends a run. */
export async function runThrough(
  store: Store,
  agent: RunnableAgent,
  more: Partial<AcceptRun> = {},
  ending: Ending = DONE,
) {
  const at = more.at ?? AT
  const run = await claim(store, await acceptId(store, agent, more), 'one', at)
  await end(store, run, ending, at)
  return run.id
}

export const intent = (key: string, position: number, more: Partial<Intent> = {}): Intent => ({
  ...{ kind: 'intent', key, position, type: key.includes('.') ? 'tool' : 'model', name: 'step', server: null },
  ...{ input: null, ...more },
})

export const outcomeOf = (key: string, more: Partial<Outcome> = {}): Outcome => ({
  ...{ kind: 'outcome', key, status: 'completed', output: '"fine"', error: null, usage: null, retries: 0 },
  ...more,
})

export const get = async (store: Store, id: number): Promise<Run> => {
  const run = await store.runs.find(id)
  expect(run, `run ${id} is there`).toBeDefined()
  return run as Run
}

/** Every run of a list, page by page, in its order. */
export const everyRun = (store: Store, filter: RunFilter = {}, limit = 100): Promise<Run[]> =>
  everyPage((page) => store.runs.list(filter, page), limit)

export const totalOf = async (store: Store, filter: RunFilter): Promise<number> =>
  (await store.runs.list(filter, { page: 1, limit: 1 })).total
