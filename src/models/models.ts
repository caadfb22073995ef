/** What the engine asks of a model: one turn, whoever serves it. */
import type { CallInput, FirstMessage } from '../contract/run.ts'
import type { Json, Tool } from '../contract/tool.ts'

export interface Models {
  /** `provider/model` for what an agent asks for; null asks for the default. */
  nameFor(model: string | null): string
  /**
   * One streamed model call. Failures that may pass (429, 5xx, network, cut or unreadable streams) are repeated
   * with back-off. Rejects with ModelFailure when the model does not answer usably, with the signal's reason when aborted.
   */
  turn(request: TurnRequest): Promise<Turn>
}

export interface TurnRequest {
  /** As `nameFor` gave it. */
  model: string
  messages: readonly ChatMessage[]
  tools: readonly ToolDescription[]
  signal: AbortSignal
}

export type ToolDescription = Pick<Tool, 'name' | 'description' | 'input_schema'>

/** A conversation as the journal rebuilds it. */
export type ChatMessage = FirstMessage | AssistantMessage | ToolResultMessage

/** What the model said, in the AI SDK's own JSON form: kept whole, because providers want their signatures back. */
interface AssistantMessage {
  role: 'assistant'
  content: Json
}

export interface ToolResultMessage {
  role: 'tool'
  results: { call_id: string; name: string; text: string; is_error: boolean }[]
}

export interface Turn {
  /** The message to put into the conversation. */
  content: Json
  text: string
  calls: TurnCall[]
  /** Why the model stopped: `stop`, `tool-calls`, `length`, … */
  finish: string
  usage: { input_tokens: number; output_tokens: number }
  /** null when the price is not known. */
  cost_usd: number | null
  /** How many calls it took. */
  attempts: number
}

export interface TurnCall {
  /** Unique within the turn. */
  id: string
  name: string
  input: CallInput
}

/** The model did not answer usably; the message is for the person who reads the run. */
export class ModelFailure extends Error {
  readonly attempts: number

  constructor(message: string, attempts: number, cause?: unknown) {
    super(message, { cause })
    this.name = 'ModelFailure'
    this.attempts = attempts
  }
}
