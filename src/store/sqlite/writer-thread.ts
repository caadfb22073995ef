/**
 * The one writer. It runs in a thread of its own because an fsync blocks whoever calls it.
 * Whatever has arrived while the last commit was on its way to the disk shares the next one: each write
 * has a savepoint, so one that fails takes nothing of its neighbours along, and none is answered before the commit.
 * When the database itself fails, the whole group is refused and the file is opened anew for the next one.
 */
import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { AppError } from '../../contract/errors.ts'
import type { Row, Statement, Write } from '../statement.ts'
import { WRITES } from '../writes.ts'
import { openWriter } from './connection.ts'
import { isStorageFailure, storageUnavailable } from './failure.ts'
import type { ToThread, WriteReply, WriteRequest } from './protocol.ts'

const file: string = workerData.file
const port = parentPort as MessagePort

let connection: { db: DatabaseSync; statements: Map<string, StatementSync>; inode: number } | undefined

port.on('message', (message: ToThread) => {
  const { writes, closing } = everythingThatWaits(message)
  if (writes.length > 0) answer(commitTogether(writes))
  if (closing) close()
})

/** An answer that cannot be copied is a mistake of ours, and the fault of one write: the others get theirs. */
function answer(replies: WriteReply[]): void {
  try {
    port.postMessage(replies)
  } catch (error) {
    if (replies.length === 1) port.postMessage(replies.map(({ id }) => refusal(id, error)))
    else for (const reply of replies) answer([reply])
  }
}

function everythingThatWaits(firstMessage: ToThread) {
  const writes: WriteRequest[] = []
  for (let message: ToThread | undefined = firstMessage; message; message = receiveMessageOnPort(port)?.message) {
    if (message.kind === 'close') return { writes, closing: true }
    writes.push(...message.writes)
  }
  return { writes, closing: false }
}

function commitTogether(writes: WriteRequest[]): WriteReply[] {
  try {
    const { db, inode } = open()
    if (inodeOf(file) !== inode) throw storageUnavailable(new Error(`${file} is not the file that was opened`))
    db.exec('BEGIN IMMEDIATE')
    const replies = writes.map(runInSavepoint)
    db.exec('COMMIT')
    return replies
  } catch (error) {
    disconnect()
    const failure = isStorageFailure(error) ? storageUnavailable(error) : error
    return writes.map(({ id }) => refusal(id, failure))
  }
}

/** Our own refusals undo one write; a failing database is thrown on and undoes the group. */
function runInSavepoint({ id, name, input }: WriteRequest): WriteReply {
  const { db } = open()
  db.exec('SAVEPOINT item')
  try {
    const value = drive(start(name, input))
    db.exec('RELEASE item')
    return { id, ok: true, value }
  } catch (error) {
    if (isStorageFailure(error)) throw error
    db.exec('ROLLBACK TO item')
    db.exec('RELEASE item')
    return refusal(id, error)
  }
}

function start(name: string, input: unknown): Write<unknown> {
  const write = (WRITES as Record<string, (input: never) => Write<unknown>>)[name]
  if (!write) throw new Error(`no write is called ${name}`)
  return write(input as never)
}

function drive<Result>(write: Write<Result>): Result {
  let next = write.next()
  while (!next.done) next = write.next(execute(next.value))
  return next.value
}

function execute({ parts, values }: Statement): Row[] {
  const text = parts.join('?')
  const { db, statements } = open()
  let statement = statements.get(text)
  if (!statement) {
    statement = db.prepare(text)
    statements.set(text, statement)
  }
  return statement.all(...values) as Row[]
}

function open() {
  connection ??= { db: openWriter(file), statements: new Map(), inode: inodeOf(file) }
  return connection
}

/** A deleted or replaced file goes on taking writes that nobody will ever read: 0 for one that cannot be found. */
function inodeOf(path: string): number {
  try {
    return statSync(path).ino
  } catch {
    return 0
  }
}

/** Closing also rolls back whatever the failed transaction left. */
function disconnect(): void {
  try {
    connection?.db.close()
  } finally {
    connection = undefined
  }
}

function close(): void {
  disconnect()
  port.close()
}

function refusal(id: number, error: unknown): WriteReply {
  const { code, message, cause } =
    error instanceof AppError ? error : new AppError('INTERNAL_ERROR', 'the write failed', { cause: error })
  return { id, ok: false, code, message, ...(cause ? { cause: String((cause as Error).stack ?? cause) } : {}) }
}
