/** The tool calls of one model turn: all at once, each through the journal, none of them twice. */
import type { Tool, ToolAnswer, ToolCallContext } from '../../contract/tool.ts'
import type { ToolResultMessage, TurnCall } from '../../models/models.ts'
import type { ClaimedRun } from '../../store/runs/claim-write.ts'
import { bounded, cut, isObject, toResult } from './conversation.ts'
import { mayRepeat, OUTCOME_UNKNOWN } from './in-doubt.ts'
import type { Journal, KnownStep, StepOutcome } from './journal.ts'
import { unlessAborted } from './unless-aborted.ts'

export interface CallToolsParts {
  run: ClaimedRun
  journal: Journal
  tools: ReadonlyMap<string, Tool>
  signal: AbortSignal
  /** Runs the work in the way that suits it: with the run's slot, or without when it only waits for other runs. */
  during(waitsOnRuns: boolean, work: () => Promise<void>): Promise<void>
}

interface CallStep {
  key: string
  call: TurnCall
  /** What is known already, from an earlier attempt or because the call cannot be made at all. */
  outcome?: StepOutcome | KnownStep
  tool?: Tool
}

export async function callTools(turn: number, calls: TurnCall[], parts: CallToolsParts): Promise<ToolResultMessage> {
  const { journal } = parts
  const steps = calls.map((call, index) => prepare({ key: `${turn}.${index}`, call }, parts))
  await journal.commit()
  const open = steps.filter(({ outcome }) => outcome === undefined)
  if (open.length > 0) {
    // One is enough: with a slot in hand for the others' sake, the run could keep out the very one that it waits for.
    const waitsOnRuns = open.some(({ tool }) => tool?.waits_on_run)
    await parts.during(waitsOnRuns, () => makeAll(open, parts))
  }
  return { role: 'tool', results: steps.map(({ call, outcome }) => toResult(call, outcome ?? NEVER)) }
}

const NEVER: StepOutcome = { status: 'error', output: null, error: 'The call was not made' }

function prepare({ key, call }: CallStep, { run, journal, tools }: CallToolsParts): CallStep {
  const tool = tools.get(call.name)
  const known = journal.known(key)
  if (known && known.status !== 'running') return { key, call, outcome: known }
  if (known && known.epoch !== run.epoch) {
    if (mayRepeat(tool)) {
      journal.again(key)
      return { key, call, tool }
    }
    journal.settle(key, OUTCOME_UNKNOWN)
    return { key, call, outcome: OUTCOME_UNKNOWN }
  }
  journal.intend({ key, type: 'tool', name: call.name, server: tool?.server ?? null, input: call.input })
  const problem = whyNot(call, tool, tools)
  if (tool && !problem) return { key, call, tool }
  const outcome: StepOutcome = { status: 'error', output: null, error: problem ?? 'The call cannot be made' }
  journal.settle(key, outcome)
  return { key, call, outcome }
}

function whyNot({ name, input }: TurnCall, tool: Tool | undefined, tools: ReadonlyMap<string, Tool>) {
  if (!tool) return `There is no tool named '${name}'. Tools: ${[...tools.keys()].join(', ') || 'none'}`
  if (!isObject(input)) return 'The arguments must be a JSON object'
  return undefined
}

/** Every outcome is written as it comes; the last one together with whatever the run does next. */
async function makeAll(open: CallStep[], { run, journal, signal }: CallToolsParts): Promise<void> {
  let left = open.length
  await Promise.all(
    open.map(async (step) => {
      step.outcome = await make(step, { key: `${run.id}:${step.key}`, signal }, journal)
      journal.settle(step.key, step.outcome)
      left -= 1
      if (left > 0) await journal.commit()
    }),
  )
}

async function make({ call, tool }: CallStep, context: ToolCallContext, journal: Journal): Promise<StepOutcome> {
  const { signal } = context
  try {
    // A cancel may have come between the commit of the intent and now.
    signal.throwIfAborted()
    return toOutcome(await unlessAborted(signal, (tool as Tool).call(call.input, context)), journal.room())
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return { status: 'error', output: null, error: messageOf(error) }
  }
}

function toOutcome({ output, is_error }: ToolAnswer, room: number): StepOutcome {
  const kept = bounded(output ?? null, room)
  return is_error
    ? { status: 'error', output: kept, error: 'The tool answered with an error' }
    : { status: 'completed', output: kept, error: null }
}

const LONGEST_ERROR = 4096

const messageOf = (error: unknown): string =>
  error instanceof Error && error.message ? cut(String(error.message), LONGEST_ERROR) : 'The call failed'
