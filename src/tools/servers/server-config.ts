/** An MCP server as the files of its environment define it. */
import type { ShownTarget } from '../../contract/mcp-server.ts'
import type { ServerPromises } from '../repeat-policy.ts'

/** Ready to connect, with its secrets in it: lives in memory only. */
export interface ServerConfig extends ServerPromises {
  readonly environment: string
  readonly name: string
  /** Path below the environments folder. */
  readonly file: string
  /** The same for the same resolved configuration. */
  readonly hash: string
  readonly target: StdioTarget | HttpTarget
  /** For one call, connecting included. */
  readonly timeout_ms: number
  readonly connect_timeout_ms: number
  /** The text without the server's secrets, for whatever leaves the process. */
  mask(text: string): string
}

export interface StdioTarget {
  readonly kind: 'stdio'
  readonly command: string
  /** The command as the file has it, for messages. */
  readonly given: string
  readonly args: readonly string[]
  /** Only what the file gives; little else is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface HttpTarget {
  readonly kind: 'http'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface FoundServer {
  readonly name: string
  /** Path below the environments folder. */
  readonly file: string
  readonly transport: 'stdio' | 'http'
  readonly shown: ShownTarget
  readonly disabled: boolean
  /** Ready to connect, or why it cannot be: a variable that is missing, … */
  readonly config: ServerConfig | ServerProblem
}

interface ServerProblem {
  readonly problem: string
  /** The variables cannot be read at the moment, so nobody knows what the server would be. */
  readonly is_unclear?: boolean
}

export interface FoundServers {
  readonly servers: readonly FoundServer[]
  /** Files, and entries of files, that could not be understood. */
  readonly errors: readonly { readonly file: string; readonly server?: string; readonly message: string }[]
}

/** Reads the server files of an environment as they are now. Connects to nothing. */
export type ReadServers = (environment: string) => Promise<FoundServers>
