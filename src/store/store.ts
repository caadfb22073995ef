/**
 * The port to memory: what the rest of the service may ask of a database, whichever it is.
 * Reads never wait for writes. A write resolves after it is durable. Everything here rejects with
 * STORAGE_UNAVAILABLE when the database cannot be used, and works again by itself once it can.
 */
import type { AgentReads } from './agents.ts'
import type { EnvironmentReads } from './environments.ts'
import type { Load } from './load.ts'
import type { RunReads } from './runs/reads.ts'
import type { ServerReads } from './tools/servers.ts'
import type { ToolReads } from './tools/tools.ts'
import type { Writer } from './writes.ts'

export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  readonly agents: AgentReads
  readonly environments: EnvironmentReads
  readonly servers: ServerReads
  readonly tools: ToolReads
  readonly runs: RunReads
  readonly write: Writer
  load(): Promise<Load>
  /** Resolves when reading and writing both work. */
  ping(): Promise<void>
  /** Finishes the writes that were handed over, then lets go of the database. May be called once. */
  close(): Promise<void>
}
