/** A tool as the engine sees it, wherever it comes from. */

/** Values that survive a trip through the journal unchanged. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export const isJsonObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a run is offered: plain data, so that a run keeps the tools it began with, whatever happens to their servers. */
export interface OfferedTool {
  /** As the model sees it: unique among the tools of a run. */
  readonly name: string
  /** The MCP server behind it; null for what is built in. */
  readonly server: string | null
  /** What its server calls it, where that is something else. */
  readonly own_name?: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly input_schema: { readonly [key: string]: Json }
  /** Whether a call may be made again when nobody knows if the first one happened. */
  readonly repeat: 'safe' | 'never'
  /** Its calls wait for another run, so the calling run needs no slot meanwhile. */
  readonly waits_on_run?: boolean
}

export interface Tool extends OfferedTool {
  /**
   * Makes the call once. A tool that fails answers with `is_error`, and the model reads why; so does one that
   * rejects, whatever the reason. When the signal aborts, nobody waits for the answer any more.
   */
  call(input: { [key: string]: Json }, context: ToolCallContext): Promise<ToolAnswer>
}

/** Where a call that goes to an MCP server carries its key: in `_meta`. */
export const CALL_KEY = 'io.agenthost/idempotencyKey'

export interface ToolCallContext {
  /** `run:step`, the same for every repetition of this call: what a server needs to do its work once. */
  readonly key: string
  readonly signal: AbortSignal
}

export interface ToolAnswer {
  readonly output: Json
  readonly is_error: boolean
}
