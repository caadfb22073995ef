/** A connection to one MCP server. It is made once and lost once; whoever wants another makes another. */
import type { Json, ToolAnswer, ToolCallContext } from '../../contract/tool.ts'
import type { ServerConfig } from '../servers/server-config.ts'

export interface ListedTool {
  /** What the server calls it. */
  name: string
  description: string
  input_schema: { [key: string]: Json }
  annotations: { [key: string]: Json }
}

export interface ToolList {
  tools: ListedTool[]
  /** What was left out of it, and why; null when nothing was. */
  complaint: string | null
}

export interface Connection {
  /** Rejects with ServerFailure. */
  list(options: { timeout_ms: number }): Promise<ToolList>
  /** Rejects with ServerFailure when no answer came; what a tool says about its own failure is an answer. */
  call(tool: CallTarget, input: { [key: string]: Json }, context: ConnectionCall): Promise<ToolAnswer>
  /** Resolves with the reason when the connection is gone without anybody having closed it. */
  readonly lost: Promise<string>
  /** Resolves when nothing of it is left: for a process, when it and all that it started are gone. */
  close(): Promise<void>
}

export type CallTarget = Pick<ListedTool, 'name' | 'input_schema'>

interface ConnectionCall extends ToolCallContext {
  readonly timeout_ms: number
}

export interface ConnectHooks {
  /** The server says that its tools have changed. */
  onToolsChanged(): void
}

/** Rejects with ServerFailure, leaving nothing behind. */
export type Connect = (config: ServerConfig, hooks: ConnectHooks, signal: AbortSignal) => Promise<Connection>

/**
 * What went wrong between us and a server. The message is for people and models, and masked.
 * - `unreachable`: nothing was asked of it, it could not be reached or started
 * - `lost`: the connection went away before the answer
 * - `timeout`: no answer in time
 * - `refused`: it answered that it does not want to (an error of the protocol)
 * - `busy`: nothing was asked of it, too much is waiting for it already
 * - `rubbish`: it answered something that cannot be understood, or is too large
 */
export class ServerFailure extends Error {
  readonly kind: 'unreachable' | 'lost' | 'timeout' | 'refused' | 'busy' | 'rubbish'

  constructor(kind: ServerFailure['kind'], message: string) {
    super(message)
    this.name = 'ServerFailure'
    this.kind = kind
  }
}

/** To a tenth of a second, upwards: what is left of a timeout is never a round number. */
const seconds = (ms: number) => `${Math.ceil(ms / 100) / 10} s`

export const notAnsweredWithin = (ms: number) =>
  new ServerFailure('timeout', `the server did not answer within ${seconds(ms)}`)

export const notConnectedWithin = (ms: number) =>
  new ServerFailure('timeout', `the server could not be connected within ${seconds(ms)}`)

/** The server has forgotten its session with us and did not look at the call: it may be made again over a new one. */
export class SessionLost extends ServerFailure {
  constructor(message: string) {
    super('lost', message)
    this.name = 'SessionLost'
  }
}
