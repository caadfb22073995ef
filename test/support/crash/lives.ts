// One home and the lives of the service in it, one after the other: started, killed, started again.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServerPromises } from '../../../src/tools/repeat-policy.ts'
import { type LedgerLine, readLedger } from '../ledger/line.ts'
import { type ServiceProcess, startService } from '../service-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Database, readDatabase } from './database.ts'

export interface Lives extends AsyncDisposable {
  readonly home: string
  /** The service as it is, or was last. */
  current(): ServiceProcess | undefined
  /** How many lives there were. */
  count(): number
  /** Begins the next life; rejects when it ends before it is ready. */
  start(faults?: Faults): Promise<ServiceProcess>
  ledger(): LedgerLine[]
  /** Only while nothing runs. */
  database(): Database
}

interface Faults {
  /** See crash-point.ts. */
  crash?: string
  /** Only runs accepted in this life with this variable `batch` count for the crash point. */
  batch?: string
  /** Runs are troubled where their variable `trouble` says; see trouble.ts. */
  trouble?: boolean
  env?: Record<string, string>
}

interface LivesOptions {
  /** By name of the tool set; what the operator promises about the ledger server. */
  promises?: Record<string, ServerPromises>
  env?: Record<string, string>
}

const ENTRY = fileURLToPath(new URL('./service.ts', import.meta.url))

export async function createLives({ promises = { '': {} }, env = {} }: LivesOptions = {}): Promise<Lives> {
  const folder = await temporaryFolder()
  const ledgerFile = join(folder.path, 'ledger.jsonl')
  let service: ServiceProcess | undefined
  let count = 0

  return {
    home: folder.path,
    current: () => service,
    count: () => count,
    async start({ crash, batch, trouble, env: more = {} } = {}) {
      count += 1
      service = undefined
      service = await startService({
        home: folder.path,
        entry: ENTRY,
        env: {
          ...{ SVC_LOG_LEVEL: 'warn', SVC_TEST_LIFE: String(count), SVC_TEST_LEDGER: ledgerFile },
          ...{ SVC_TEST_PROMISES: JSON.stringify(promises) },
          ...(crash ? { SVC_TEST_CRASH: crash } : {}),
          ...(batch ? { SVC_TEST_CRASH_BATCH: batch } : {}),
          ...(trouble ? { SVC_TEST_TROUBLE: 'yes' } : {}),
          ...env,
          ...more,
        },
      })
      return service
    },
    ledger: () => readLedger(ledgerFile),
    database: () => readDatabase(join(folder.path, 'data', 'agenthost.sqlite')),
    async [Symbol.asyncDispose]() {
      await service?.[Symbol.asyncDispose]()
      await folder.remove()
    },
  }
}
