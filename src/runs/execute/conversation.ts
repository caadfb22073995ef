/** What the journal says as a conversation: the calls and the text of a model turn, and what a tool's answer reads like. */
import { isTooDeep } from '../../contract/json-depth.ts'
import type { CallInput } from '../../contract/run.ts'
import { isJsonObject, type Json } from '../../contract/tool.ts'
import type { ToolResultMessage, TurnCall } from '../../models/models.ts'
import type { KnownStep } from './journal.ts'

/** What the model gets to read of one answer. */
const MODEL_READS = 256 * 1024
/** What is kept of one answer. */
const STEP_KEEPS = 1024 * 1024

type Part = { [key: string]: Json }
type ToolResult = ToolResultMessage['results'][number]

export const textOf = (content: Json): string =>
  typeof content === 'string'
    ? content
    : partsOf(content, 'text')
        .map(({ text }) => text)
        .join('')

/** Not those that the provider made itself: their answers are part of what it said. */
export const callsOf = (content: Json): TurnCall[] =>
  partsOf(content, 'tool-call')
    .filter(({ providerExecuted }) => providerExecuted !== true)
    .map(({ toolCallId, toolName, input }) => ({
      id: String(toolCallId),
      name: String(toolName),
      input: input as CallInput,
    }))

const partsOf = (content: Json, type: string): Part[] =>
  Array.isArray(content) ? content.filter((part): part is Part => isJsonObject(part) && part.type === type) : []

/** An answer as the journal keeps it: whole, or the beginning of its text when there is no room for more. */
export function bounded(output: Json, room: number): Json {
  const json = typeof output === 'string' ? output : JSON.stringify(output)
  const most = Math.min(STEP_KEEPS, room)
  if (json.length > most) return cut(asText(output), most)
  return typeof output !== 'string' && isTooDeep(json) ? json : output
}

/** Read from the record alone, so that a replayed conversation is the same to the letter. */
export function toResult(call: TurnCall, { status, output, error }: Pick<KnownStep, 'status' | 'output' | 'error'>) {
  const text = (output === null && error !== null ? error : asText(output)).toWellFormed()
  const result: ToolResult = { call_id: call.id, name: call.name, text: cut(text, MODEL_READS), is_error: false }
  return status === 'completed' ? result : { ...result, is_error: true }
}

const asText = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output))

/** Never through the middle of a character. */
export const cut = (text: string, size: number): string =>
  text.length <= size ? text : `${text.slice(0, size).toWellFormed()}\n[cut here: ${text.length} characters in all]`
