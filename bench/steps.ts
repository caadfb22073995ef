/**
 * What the journal costs: 32 runs at once, ten rounds of an instant model and an instant tool each, every step on disk
 * (FULL sync), against the same loop without a journal, and against the AI SDK's own loop with the same model and tool.
 */
import { isStepCount, jsonSchema, streamText } from 'ai'
import { systemClock } from '../src/clock.ts'
import { DEFAULT_DEFINITION } from '../src/contract/agent.ts'
import type { Tool } from '../src/contract/tool.ts'
import { attempt } from '../src/models/attempt.ts'
import type { Models } from '../src/models/models.ts'
import { USUAL_PATIENCE } from '../src/models/watch.ts'
import type { Control } from '../src/runs/dispatch.ts'
import { createEngine, type Engine } from '../src/runs/engine.ts'
import { converse } from '../src/runs/execute/converse.ts'
import type { Journal } from '../src/runs/execute/journal.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import type { Store } from '../src/store/store.ts'
import { createLog } from '../src/telemetry/log.ts'
import { toolsFrom } from '../test/support/tools-from.ts'
import { instantModel, ROUNDS } from './instant-model.ts'
import { atMost, info, type Row } from './row.ts'
import { median, withFolder } from './service.ts'

const AT_ONCE = 32
const REPETITIONS = 9
const SCHEMA = { type: 'object', properties: { round: { type: 'number' } } } as const

export async function steps(): Promise<Row[]> {
  return withFolder(async (folder) => {
    const { store, commits } = counting(await openSqliteStore(folder))
    const { engine, start, agentId } = await prepare(store)
    const ours: number[] = []
    const forgetful: number[] = []
    const bare: number[] = []
    for (let n = 0; n < REPETITIONS; n++) {
      bare.push(await timed(bareLoop))
      forgetful.push(await timed(loopWithoutJournal))
      ours.push(await timed(() => start(agentId)))
    }
    const firstSteps = await firstStepMs(engine, store)
    const alone = await commitsOfOneRun(engine, store, commits)
    await engine.stop(0)
    await store.close()
    const [mine, without, theirs] = [median(ours), median(forgetful), median(bare)]
    const perRound = (ms: number) => `${((ms * 1000) / (AT_ONCE * ROUNDS)).toFixed(0)} µs`
    return [
      atMost(
        'round with journal, × the loop without',
        mine / without,
        2,
        `${perRound(mine)} and ${perRound(without)} a round`,
      ),
      info('round with journal, × the SDK’s own loop', mine / theirs, `${perRound(theirs)} a round`),
      atMost(
        'writes to disk in a round',
        (alone - 2) / ROUNDS,
        2,
        `${alone} for a lone run of ${ROUNDS} rounds, its start and its end included`,
      ),
      atMost('202 to first step, ms', firstSteps, 5, 'median of lone runs'),
      info('ten-round runs per second', (AT_ONCE * 1000) / mine, ''),
    ]
  })
}

const echo: Tool = {
  ...{ name: 'echo', server: 'bench', description: 'Echoes.', input_schema: SCHEMA, repeat: 'never' },
  call: async (input) => ({ output: input, is_error: false }),
}

async function bareLoop(): Promise<void> {
  const tools = {
    echo: { description: 'Echoes.', inputSchema: jsonSchema(SCHEMA), execute: async (input: unknown) => input },
  }
  const one = async () => {
    const { text } = streamText({
      model: instantModel,
      prompt: 'Go.',
      tools,
      stopWhen: isStepCount(ROUNDS + 1),
      maxRetries: 0,
    })
    await text
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

/** Our loop, with a journal that forgets everything at once. */
async function loopWithoutJournal(): Promise<void> {
  const nothing = async () => undefined
  const journal: Journal = {
    ...{
      freeze: () => undefined,
      known: () => undefined,
      intend: () => undefined,
      again: () => undefined,
      settle: () => undefined,
    },
    ...{ commit: nothing, beat: nothing, end: nothing, release: nothing, room: () => 1 },
  }
  const meter = { consumed: () => 0, pause: () => undefined, resume: () => undefined }
  const { signal } = new AbortController()
  const control: Control = {
    ...{ signal, stopping: () => false, isOverShare: () => false, learnLimit: () => undefined },
    ...{ yieldSlot: nothing, withoutSlot: (work) => work() },
  }
  const run = {
    ...{ id: 1, epoch: 1, agent_id: 1, environment_id: 1, environment: 'default', model: 'bench/instant', steps: [] },
    ...{ consumed_ms: 0, timeout_seconds: 900, max_steps: 25, tools: null, notify: false, toolset: null },
    messages: [{ role: 'user' as const, content: 'Go.' }],
  }
  const one = () => converse({ run, journal, meter, models, tools: [echo], control, signal, waiting: nothing })
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

const endpoint = { model: instantModel, who: 'bench', model_name: 'instant', key_variable: '', has_key: false }
const models: Models = {
  nameFor: () => 'bench/instant',
  turn: async (request) => ({ ...(await attempt(request, endpoint, USUAL_PATIENCE)), cost_usd: 0, attempts: 1 }),
}

async function prepare(store: Store) {
  const { id: environment_id } = await store.write('ensureEnvironment', { name: 'default', at: Date.now() })
  const definition = { ...DEFAULT_DEFINITION, variables: [], name: 'bench', prompt: 'You are a benchmark.' }
  const made = await store.write('createAgent', {
    environment_id,
    definition,
    source: 'api',
    file: null,
    at: Date.now(),
  })
  const limits = { max_concurrent_runs: AT_ONCE, max_queued_runs: 1000, retention_days: 0 }
  const engine = createEngine({
    store,
    models,
    tools: toolsFrom([echo]),
    clock: systemClock,
    log: createLog('silent'),
    limits,
  })
  await engine.start()
  const start = async (agentId: number) => {
    await Promise.all(Array.from({ length: AT_ONCE }, () => runToTheEnd(engine, store, agentId)))
  }
  await start(made.id)
  return { engine, start, agentId: made.id }
}

async function runToTheEnd(engine: Engine, store: Store, agentId: number): Promise<number> {
  const agent = (await store.agents.find(agentId))?.agent
  if (!agent) throw new Error('no agent')
  const source = { type: 'api' as const, principal: null, address: null, user_agent: null, request_id: null }
  const { answer } = await engine.accept({ agent: async () => agent, task: 'Go.', variables: {}, source })
  const run = await engine.runs.wait(answer.run_id, 60, new AbortController().signal)
  if (run.status !== 'completed') throw new Error(JSON.stringify(run.error))
  return answer.run_id
}

/** From the accept of a lone run to the claim that carries its first step. */
async function firstStepMs(engine: Engine, store: Store): Promise<number> {
  const waits: number[] = []
  for (let n = 0; n < REPETITIONS; n++) {
    const run = await store.runs.find(await runToTheEnd(engine, store, 1))
    waits.push(Date.parse(run?.started_at ?? '') - Date.parse(run?.created_at ?? ''))
  }
  return median(waits)
}

/** A lone run shares no commit with anybody: every write that it waits for is one. */
async function commitsOfOneRun(engine: Engine, store: Store, commits: () => number): Promise<number> {
  const before = commits()
  await runToTheEnd(engine, store, 1)
  return commits() - before - 1
}

function counting(store: Store): { store: Store; commits: () => number } {
  let count = 0
  const write: Store['write'] = (name, input) => {
    count += 1
    return store.write(name, input)
  }
  return { store: { ...store, write }, commits: () => count }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
