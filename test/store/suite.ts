// What every store does, whichever database is behind it. Each database has a test file that calls this once.
import { describe } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { agentFacts } from './suite-agents.ts'
import { listFacts } from './suite-lists.ts'
import { modelFacts } from './suite-model.ts'
import { acceptFacts } from './suite-runs-accept.ts'
import { claimFacts } from './suite-runs-claim.ts'
import { journalFacts } from './suite-runs-journal.ts'
import { runListFacts } from './suite-runs-lists.ts'
import { runModelFacts } from './suite-runs-model.ts'
import { serverFacts } from './suite-servers.ts'
import { toolFacts } from './suite-tools.ts'
import { toolModelFacts } from './suite-tools-model.ts'
import { toolsetFacts } from './suite-toolsets.ts'
import { writeFacts } from './suite-writes.ts'

export interface OpenedStore extends AsyncDisposable {
  store: Store
  /** Closes the store unless that happened already, and opens it again on the same data. */
  reopen(): Promise<Store>
}

export type OpenStore = () => Promise<OpenedStore>

export function storeSuite(name: string, open: OpenStore): void {
  describe(name, () => {
    describe('agents', () => agentFacts(open))
    describe('lists', () => listFacts(open))
    describe('any sequence of changes', () => modelFacts(open))
    describe('writes that arrive together', () => writeFacts(open))
    describe('accepting runs', () => acceptFacts(open))
    describe('claiming runs', () => claimFacts(open))
    describe('the journal of a run', () => journalFacts(open))
    describe('lists of runs', () => runListFacts(open))
    describe('any sequence of what happens to runs', () => runModelFacts(open))
    describe('MCP servers', () => serverFacts(open))
    describe('tools', () => toolFacts(open))
    describe('any sequence of what happens to tools', () => toolModelFacts(open))
    describe('what runs are offered', () => toolsetFacts(open))
  })
}

/** Lets a test close its store itself: closing again does nothing. */
export async function reopenable(open: () => Promise<Store>, cleanUp?: () => Promise<void>): Promise<OpenedStore> {
  let closed = false
  const start = async (): Promise<Store> => {
    const store = await open()
    closed = false
    const close = async () => {
      if (closed) return
      closed = true
      await store.close()
    }
    return { ...store, close }
  }
  let current = await start()
  return {
    store: current,
    async reopen() {
      await current.close()
      current = await start()
      return current
    },
    async [Symbol.asyncDispose]() {
      await current.close()
      await cleanUp?.()
    },
  }
}
