/**
 * A run's journal in the hands of its owner. What is about to happen and what came of it is collected, and written
 * in one commit by whoever next needs it on disk: so a model turn and a tool call together cost two commits.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Json, OfferedTool } from '../../contract/tool.ts'
import { readJson } from '../../store/json.ts'
import type { ClaimedRun, RecordedStep } from '../../store/runs/claim-write.ts'
import type { Ending } from '../../store/runs/end-write.ts'
import type { Entry, Intent, Outcome } from '../../store/runs/journal-write.ts'
import type { Store } from '../../store/store.ts'
import { RunAborted } from '../dispatch.ts'
import type { Feed } from '../watch.ts'
import type { Meter } from './meter.ts'
import { persist } from './persist.ts'

/** What is kept of all outcomes of a run together: it has to be read whole, for a replay and for whoever looks at it. */
const RUN_KEEPS = 16 * 1024 * 1024

export interface Journal {
  /** The tools that the run began with go to disk with the first of its steps. */
  freeze(tools: readonly OfferedTool[]): void
  /** The step as an earlier attempt left it. */
  known(key: string): KnownStep | undefined
  intend(step: Pick<Intent, 'key' | 'type' | 'name' | 'server'> & { input: Json }): void
  /** Its outcome was never recorded, and it may be done again. */
  again(key: string): void
  settle(key: string, outcome: StepOutcome): void
  /** Characters that the outcome of a step may still have. A run that has used up its room is not worth going on with. */
  room(): number
  /** Resolves once everything collected so far is on disk; at once when nothing was. */
  commit(): Promise<void>
  /** Writes how long the run has been executing, and notices what happened to it elsewhere. */
  beat(): Promise<void>
  end(ending: Ending): Promise<void>
  /** Lets go of a run that is not at its end: whoever comes next goes on from here. */
  release(): Promise<void>
}

/** A recorded step, its output read. */
export type KnownStep = Omit<RecordedStep, 'output'> & { output: Json }

export interface StepOutcome extends Pick<Outcome, 'status' | 'error'> {
  output: Json
  usage?: Outcome['usage']
  retries?: number
}

interface JournalParts {
  run: ClaimedRun
  store: Store
  clock: Clock
  meter: Meter
  feed: Feed
  stopping: () => boolean
}

export function openJournal({ run, store, clock, meter, feed, stopping }: JournalParts): Journal {
  const earlier = new Map(run.steps.map((step) => [step.key, step]))
  let position = run.steps.length
  let used = run.steps.reduce((sum, { output }) => sum + (output?.length ?? 0), 0)
  let collected: Entry[] = []
  let toolset: { hash: string; tools: string } | null = null
  let last: Promise<unknown> = Promise.resolve()

  /** One write after the other, each with all that has come together meanwhile. */
  function inTurn<Value>(write: () => Promise<Value>): Promise<Value> {
    const mine = last.then(write)
    last = mine.catch(() => undefined)
    return mine
  }

  async function record(ending: Ending | null): Promise<void> {
    const entries = collected
    collected = []
    const { id: run_id, epoch } = run
    const input = { run_id, epoch, consumed_ms: meter.consumed(), entries, ending, toolset, at: clock.now() }
    toolset = null
    const recorded = await persist(() => store.write('recordSteps', input), stopping)
    if (ending) feed.ended(run_id)
    else feed.changed(run_id)
    if (!recorded.owned) throw new RunAborted('superseded')
    if (recorded.cancel_requested && !ending) throw new RunAborted('cancelled')
  }

  const commit = () => inTurn(async () => (collected.length > 0 ? record(null) : undefined))

  return {
    freeze(offered) {
      const tools = JSON.stringify(offered)
      toolset = { hash: createHash('sha256').update(tools).digest('hex'), tools }
    },
    known(key) {
      const step = earlier.get(key)
      return step && { ...step, output: step.output === null ? null : readJson(step.output) }
    },
    intend({ input, ...step }) {
      collected.push({ kind: 'intent', ...step, position: position++, input: toText(input) })
    },
    again: (key) => void collected.push({ kind: 'again', key }),
    settle(key, { output, usage = null, retries = 0, ...rest }) {
      const text = toText(output)
      used += text?.length ?? 0
      collected.push({ kind: 'outcome', key, ...rest, output: text, usage, retries })
    },
    room: () => Math.max(0, RUN_KEEPS - used),
    commit,
    beat: () => inTurn(() => record(null)),
    end: (ending) => inTurn(() => record(ending)),
    async release() {
      await commit()
      await persist(() => store.write('releaseRun', { run_id: run.id, epoch: run.epoch }), stopping)
      feed.changed(run.id)
    },
  }
}

const toText = (value: Json): string | null => (value === null ? null : JSON.stringify(value))
