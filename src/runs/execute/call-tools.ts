/** The tool calls of one model turn: all at once, each through the journal, none of them twice. */
import { isJsonObject, type Tool, type ToolAnswer, type ToolCallContext } from '../../contract/tool.ts'
import type { ToolResultMessage, TurnCall } from '../../models/models.ts'
import type { ClaimedRun } from '../../store/runs/claim-write.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import { bounded, cut, toResult } from './conversation.ts'
import { mayRepeat, OUTCOME_UNKNOWN } from './in-doubt.ts'
import type { Journal, KnownStep, StepOutcome } from './journal.ts'

export interface CallToolsParts {
  run: ClaimedRun
  journal: Journal
  tools: ReadonlyMap<string, Tool>
  signal: AbortSignal
  /** Runs the work in the way that suits it: with the run's slot, or without when it only waits for other runs. */
  during<Value>(waitsOnRuns: boolean, work: () => Promise<Value>): Promise<Value>
}

interface CallStep {
  key: string
  call: TurnCall
}

interface OpenStep extends CallStep {
  tool: Tool
}

/** Known already, from an earlier attempt or because the call cannot be made at all. */
interface SettledStep extends CallStep {
  outcome: StepOutcome | KnownStep
}

const isOpen = (step: OpenStep | SettledStep): step is OpenStep => 'tool' in step

export async function callTools(turn: number, calls: TurnCall[], parts: CallToolsParts): Promise<ToolResultMessage> {
  const steps = calls.map((call, index) => prepare({ key: `${turn}.${index}`, call }, parts))
  await parts.journal.commit()
  // One is enough: with a slot in hand for the others' sake, the run could keep out the very one that it waits for.
  const waitsOnRuns = steps.some((step) => isOpen(step) && step.tool.waits_on_run === true)
  const settled = await parts.during(waitsOnRuns, () => makeAll(steps, parts))
  return { role: 'tool', results: settled.map(({ call, outcome }) => toResult(call, outcome)) }
}

function prepare({ key, call }: CallStep, { run, journal, tools }: CallToolsParts): OpenStep | SettledStep {
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
  if (!tool) return `There is no tool named '${name}'. Tools: ${inShort([...tools.keys()])}`
  if (!isJsonObject(input)) return 'The arguments must be a JSON object'
  return undefined
}

const NAMED = 50

/** The model has them all already. */
function inShort(names: string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return `${names.slice(0, NAMED).join(', ')}${more}` || 'none'
}

/** Every outcome is written as it comes; the last one together with whatever the run does next. */
function makeAll(steps: (OpenStep | SettledStep)[], { run, journal, signal }: CallToolsParts): Promise<SettledStep[]> {
  let left = steps.filter(isOpen).length
  const settle = async (step: OpenStep): Promise<SettledStep> => {
    const outcome = await make(step, { key: `${run.id}:${step.key}`, signal }, journal)
    journal.settle(step.key, outcome)
    left -= 1
    if (left > 0) await journal.commit()
    return { ...step, outcome }
  }
  return Promise.all(steps.map((step) => (isOpen(step) ? settle(step) : step)))
}

async function make({ call, tool }: OpenStep, context: ToolCallContext, journal: Journal): Promise<StepOutcome> {
  const { signal } = context
  try {
    // A cancel may have come between the commit of the intent and now.
    signal.throwIfAborted()
    return toOutcome(await unlessAborted(signal, tool.call(call.input, context)), journal.room())
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
