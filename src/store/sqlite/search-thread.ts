/**
 * Reads that may look at a million rows, in a thread of their own with a handle of their own that cannot write.
 * The handle is closed through SQLite only, which keeps the locks of this process's other handles. After a failure
 * it is opened anew.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openReader } from './connection.ts'
import { isStorageFailure } from './failure.ts'
import type { SearchAnswer, SearchQuery, ToSearchThread } from './protocol.ts'

const file: string = workerData.file
const port = parentPort as MessagePort

let db: DatabaseSync | undefined

port.on('message', (message: ToSearchThread) => {
  if (message.kind === 'close') return close()
  port.postMessage(answer(message))
})

function answer({ sql, parameters }: SearchQuery): SearchAnswer {
  try {
    db ??= openReader(file)
    return { ok: true, rows: db.prepare(sql).all(...(parameters as SQLInputValue[])) }
  } catch (error) {
    disconnect()
    return { ok: false, is_storage: isStorageFailure(error), cause: String((error as Error).stack ?? error) }
  }
}

function disconnect(): void {
  try {
    db?.close()
  } catch {
    // A handle that cannot even be closed is given up.
  }
  db = undefined
}

function close(): void {
  disconnect()
  port.close()
}
