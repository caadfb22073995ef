/** The loop of a run: the model speaks, its tools are called, it reads the answers, until it has nothing left to call. */
import type { Tool } from '../../contract/tool.ts'
import { type ChatMessage, ModelFailure, type Models, type Turn } from '../../models/models.ts'
import type { ClaimedRun } from '../../store/runs/claim-write.ts'
import type { Ending } from '../../store/runs/end-write.ts'
import { type Control, RunAborted } from '../dispatch.ts'
import { callTools } from './call-tools.ts'
import { callsOf, textOf } from './conversation.ts'
import type { Journal } from './journal.ts'
import type { Meter } from './meter.ts'

export interface ConverseParts {
  run: ClaimedRun
  journal: Journal
  meter: Meter
  models: Models
  tools: readonly Tool[]
  control: Control
  signal: AbortSignal
  /** Says that the run waits for another one, or no longer does. */
  waiting(isWaiting: boolean): Promise<void>
}

export async function converse(parts: ConverseParts): Promise<Ending> {
  const { run, tools, control } = parts
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const chat: ChatMessage[] = [...run.messages]
  for (let n = 1; ; n++) {
    if (control.stopping()) throw new RunAborted('stopped')
    if (parts.journal.room() === 0) return TOO_LARGE
    const { content, finish } = await speak(n, chat, parts)
    const calls = callsOf(content)
    if (calls.length === 0) return { result: textOf(content), message: finish === 'length' ? CUT_OFF : 'Completed' }
    // Nobody would read the answers: the calls are not made.
    if (n === run.max_steps) return maxStepsReached(run.max_steps)
    if (control.stopping()) throw new RunAborted('stopped')
    const during = whileCalling(parts)
    chat.push({ role: 'assistant', content }, await callTools(n, calls, { ...parts, tools: byName, during }))
    await giveWay(parts)
  }
}

/** One model turn. Its outcome is written together with what follows from it: the tool calls, or the end. */
async function speak(
  n: number,
  messages: ChatMessage[],
  parts: ConverseParts,
): Promise<Pick<Turn, 'content' | 'finish'>> {
  const { run, journal, models, tools, signal } = parts
  const key = String(n)
  const known = journal.known(key)
  if (known?.status === 'completed') return { content: known.output, finish: 'tool-calls' }
  // The failure was recorded, and only the end of the run was not.
  if (known?.status === 'error') throw new ModelFailure(known.error ?? 'The model call failed', 1)
  if (!known) journal.intend({ key, type: 'model', name: run.model, server: null, input: null })
  else if (known.epoch !== run.epoch) journal.again(key)
  await journal.commit()
  try {
    const said = await models.turn({ model: run.model, messages, tools, signal })
    const usage = { ...said.usage, cost_usd: said.cost_usd }
    journal.settle(key, { status: 'completed', output: said.content, error: null, usage, retries: said.attempts - 1 })
    return said
  } catch (error) {
    if (error instanceof ModelFailure) {
      const { message, attempts } = error
      journal.settle(key, { status: 'error', output: null, error: message, retries: attempts - 1 })
    }
    throw error
  }
}

/** Calls that all wait for other runs need no slot meanwhile: else two runs could wait for each other for ever. */
const whileCalling =
  ({ control, journal, meter, waiting }: ConverseParts) =>
  async <Value>(waitsOnRuns: boolean, work: () => Promise<Value>): Promise<Value> => {
    if (!waitsOnRuns) return work()
    await waiting(true)
    // The calls count as executing, the wait for a slot after them does not; what came of them is on disk by then.
    const value = await control.withoutSlot(async () => {
      try {
        const made = await work()
        await journal.commit()
        return made
      } finally {
        meter.pause()
      }
    })
    meter.resume()
    await waiting(false)
    return value
  }

/** What came of the calls is on disk before anybody else gets the slot. */
async function giveWay({ control, journal, meter, waiting }: ConverseParts): Promise<void> {
  if (!control.isOverShare()) return
  await journal.commit()
  await waiting(true)
  meter.pause()
  await control.yieldSlot()
  meter.resume()
  await waiting(false)
}

const TOO_LARGE: Ending = {
  code: 'MODEL_ERROR',
  message: 'The run was ended: its steps have become too large to go on',
}

const CUT_OFF = "Completed, but the model's answer was cut off at its output limit"

const maxStepsReached = (most: number): Ending => ({
  code: 'MAX_STEPS_REACHED',
  message: `The run was not done after ${most} model turns (max_steps)`,
})
