/** Every write by name. Names and plain inputs can cross to the thread or the connection that owns the transaction. */

import { createAgent, relocateAgent, removeAgent, updateAgent } from './agents-write.ts'
import { ensureEnvironment, recordSync } from './environments-write.ts'
import { acceptRun, forgetRequestKeys } from './runs/accept-write.ts'
import { claimRun, markInterrupted, releaseRun, requestCancel, setPhase } from './runs/claim-write.ts'
import { recordSteps } from './runs/journal-write.ts'
import { removeEndedRuns } from './runs/retention-write.ts'
import { forgetToolsets } from './runs/toolsets-write.ts'
import { rows, sql, type Write } from './statement.ts'
import { quietServers, reportServer, syncServers } from './tools/servers-write.ts'
import { recordTools } from './tools/tools-write.ts'

export const WRITES = {
  createAgent,
  updateAgent,
  relocateAgent,
  removeAgent,
  ensureEnvironment,
  recordSync,
  syncServers,
  reportServer,
  quietServers,
  recordTools,
  acceptRun,
  claimRun,
  recordSteps,
  setPhase,
  releaseRun,
  requestCancel,
  markInterrupted,
  removeEndedRuns,
  forgetRequestKeys,
  forgetToolsets,
  ping,
} as const

export type WriteName = keyof typeof WRITES
type WriteInput<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[0]
type WriteResult<Name extends WriteName> =
  ReturnType<(typeof WRITES)[Name]> extends Write<infer Result> ? Result : never

/** Runs a write in a transaction and resolves once it is on disk; rejects with an AppError when it is not. */
export type Writer = <Name extends WriteName>(name: Name, input: WriteInput<Name>) => Promise<WriteResult<Name>>

/** Changes nothing: the writer answers, or it does not. */
function* ping(_input: null): Write<null> {
  yield* rows(sql`SELECT 1`)
  return null
}
