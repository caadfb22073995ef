/** Opens the embedded store in a data folder: lock, schema, the writer thread, the reader, the search thread. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { EXIT } from '../../contract/exit-codes.ts'
import { StartError } from '../../contract/start-error.ts'
import { createAgentReads } from '../agents.ts'
import { createEnvironmentReads } from '../environments.ts'
import { readLoad } from '../load.ts'
import { createRunReads } from '../runs/reads.ts'
import type { Store } from '../store.ts'
import { createServerReads } from '../tools/servers.ts'
import { createToolReads } from '../tools/tools.ts'
import { createPrivateFile, openWriter } from './connection.ts'
import { lockFolder } from './lock.ts'
import { migrate } from './migrate.ts'
import { createReader } from './reader.ts'
import { createSearchThread } from './search.ts'
import { startWriterThread } from './writer.ts'

export async function openSqliteStore(folder: string): Promise<Store> {
  createFolder(folder)
  const lock = lockFolder(folder)
  try {
    const file = join(folder, 'agenthost.sqlite')
    prepare(file)
    return connect(file, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StartError(`the data folder ${folder} cannot be made: ${(error as Error).message}`, EXIT.failure, error)
  }
}

function prepare(file: string): void {
  let db: DatabaseSync | undefined
  try {
    createPrivateFile(file)
    db = openWriter(file)
    migrate(db)
  } catch (error) {
    throw error instanceof StartError ? error : cannotOpen(file, error)
  } finally {
    db?.close()
  }
}

const cannotOpen = (file: string, cause: unknown) =>
  new StartError(
    `the database ${file} cannot be opened: ${(cause as Error).message}. ` +
      'Check the disk and the file, or restore it from a backup.',
    EXIT.failure,
    cause,
  )

function connect(file: string, release: () => void): Store {
  const writer = startWriterThread(file)
  const { db, close: closeReader } = createReader(file)
  const search = createSearchThread(file)
  return {
    kind: 'sqlite',
    agents: createAgentReads(db),
    environments: createEnvironmentReads(db),
    servers: createServerReads(db),
    tools: createToolReads(db),
    runs: createRunReads(db, search),
    write: writer.write,
    load: () => readLoad(db),
    async ping() {
      await writer.write('ping', null)
      await db.selectFrom('environments').select('id').limit(1).execute()
    },
    async close() {
      // The readers first: the last connection to close folds the WAL into the database, and only the writer may.
      closeReader()
      await search.close()
      await writer.close()
      release()
    },
  }
}
