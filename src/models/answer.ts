/** What a model said, made fit for the journal: plain JSON, readable calls, and an id of its own for each call. */
import type { StepResult, ToolSet } from 'ai'
import { isTooDeep } from '../contract/json-depth.ts'
import type { CallInput } from '../contract/run.ts'
import { isJsonObject, type Json } from '../contract/tool.ts'
import type { Turn, TurnCall } from './models.ts'
import { Trouble } from './trouble.ts'

export type Answer = Omit<Turn, 'cost_usd' | 'attempts'>

type Step = StepResult<ToolSet>

const MOST_CALLS = 128
const LONGEST_NAME = 256
const MOST_TOKENS = 1_000_000_000

/** Throws Trouble when nobody could go on with it. */
export function toAnswer(step: Step): Answer {
  refuseUnfinished(step)
  if (step.toolCalls.some(({ input }) => isBottomless(input))) {
    throw new Trouble('made a tool call with arguments that are nested too deep', { again: true })
  }
  const calls = ownCalls(step)
  if (step.text.trim() === '' && calls.length === 0) {
    throw new Trouble('gave an empty answer', { again: true, detail: `finish reason ${step.finishReason}` })
  }
  const said = step.response.messages.find((message) => message.role === 'assistant')?.content ?? []
  return {
    content: withCalls(plain(said), calls),
    text: step.text,
    calls,
    finish: step.finishReason,
    usage: { input_tokens: count(step.usage.inputTokens), output_tokens: count(step.usage.outputTokens) },
  }
}

function refuseUnfinished({ finishReason, rawFinishReason }: Step): void {
  if (finishReason === 'content-filter') {
    const advice = 'its content filter stopped it; word the task or the prompt differently'
    throw new Trouble('refused to answer', { again: false, advice })
  }
  const isCut = finishReason === 'other' && rawFinishReason === undefined
  if (isCut || finishReason === 'interrupted' || finishReason === 'error') {
    throw new Trouble('broke off before the end of its answer', { again: true })
  }
}

/** A tool that is not there and arguments that do not fit stay: the engine tells the model. */
function ownCalls({ toolCalls }: Step): TurnCall[] {
  const taken = new Set<string>()
  const own = toolCalls.filter((call) => call.providerExecuted !== true)
  if (own.length > MOST_CALLS) throw new Trouble(`made ${own.length} tool calls in one turn`, { again: true })
  if (own.some((call) => call.toolName.length > LONGEST_NAME)) {
    throw new Trouble(`called a tool by a name of more than ${LONGEST_NAME} characters`, { again: true })
  }
  return own.map((call) => ({ id: uniqueId(call.toolCallId, taken), name: call.toolName, input: readableInput(call) }))
}

function uniqueId(id: string, taken: Set<string>): string {
  let unique = id.trim() === '' || id.length > LONGEST_NAME || taken.has(id) ? `call-${taken.size + 1}` : id
  while (taken.has(unique)) unique = `${unique}-${taken.size + 1}`
  taken.add(unique)
  return unique
}

function readableInput({ toolName, input }: { toolName: string; input: unknown }): CallInput {
  const value = plain(typeof input === 'string' && input.trim() === '' ? {} : input)
  if (isJsonObject(value)) return value
  throw new Trouble(`called ${toolName} with arguments that are not a JSON object`, { again: true })
}

function isBottomless(input: unknown): boolean {
  try {
    return isTooDeep(JSON.stringify(input) ?? '')
  } catch {
    // Too deep even to be written.
    return true
  }
}

/** The SDK hides what it calls invalid; the conversation shows the calls as they are answered. */
function withCalls(content: Json, calls: readonly TurnCall[]): Json {
  if (!Array.isArray(content)) return content
  const left = calls.values()
  return content.map((part) => {
    if (!isJsonObject(part) || part.type !== 'tool-call' || part.providerExecuted === true) return part
    const { value: call } = left.next()
    return call ? { ...part, toolCallId: call.id, input: call.input } : part
  })
}

/** As JSON.stringify would have it, but bytes as base64 instead of a list of numbers. */
function plain(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Date || value instanceof URL) return value.toJSON()
  if (typeof value !== 'object') return null
  const entries = Object.entries(value).filter(([, child]) => child !== undefined)
  return Object.fromEntries(entries.map(([name, child]) => [name, plain(child)]))
}

/** Whatever a provider counts: small enough that the sum of a run stays a number. */
const count = (tokens: number | undefined): number =>
  tokens !== undefined && Number.isFinite(tokens) ? Math.min(Math.max(0, Math.trunc(tokens)), MOST_TOKENS) : 0
