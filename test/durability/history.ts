// Collects the history of a home at its end, stops the service, and has it judged.
import { expect } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { Client } from '../support/crash/client.ts'
import type { Lives } from '../support/crash/lives.ts'
import { inLanes } from '../support/lanes.ts'
import type { LedgerLine } from '../support/ledger/line.ts'
import { check, describeFirst, type Verdict } from './checker.ts'

/** Tools that the operator lets be repeated when their server is trusted. */
const SAFE_WHEN_TRUSTED: ReadonlySet<string> = new Set(['lookup', 'put'])

interface Judged {
  lives: Lives
  client: Client
  safe?: ReadonlySet<string>
  /** Physical model calls, by the key `run:turn`. */
  models?: () => readonly LedgerLine[]
  /** Stands before the message of a failure: the seed, for example. */
  hint?: string
}

/** All runs have ended or are about to; the service is stopped by this. */
export async function expectGoodHistory(judged: Judged): Promise<{ verdict: Verdict; records: RunDetail[] }> {
  const { lives, client, safe = SAFE_WHEN_TRUSTED, models = () => [], hint = '' } = judged
  const records = await allRecords(client)
  expect(await lives.current()?.end('SIGTERM'), hint).toEqual({ code: 0, signal: null })
  const ledger = [...lives.ledger(), ...models()]
  const history = { told: client.told, records, ledger, database: lives.database(), safe }
  const verdict = check(history)
  expect(verdict.violations.length, `${hint} ${describeFirst(verdict, history)}`).toBe(0)
  return { verdict, records }
}

async function allRecords(client: Client): Promise<RunDetail[]> {
  const ids = new Set(client.told.accepted.map(({ run_id }) => run_id))
  const records: RunDetail[] = []
  await inLanes(8, ids, async (id) => {
    records.push(await client.ended(id))
  })
  return records
}
