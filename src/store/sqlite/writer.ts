/** The service's side of the writer thread: hands over what one tick collected, and matches answers to callers. */
import { Worker } from 'node:worker_threads'
import { AppError } from '../../contract/errors.ts'
import type { WriteName, Writer } from '../writes.ts'
import { storageUnavailable } from './failure.ts'
import type { ToThread, WriteReply, WriteRequest } from './protocol.ts'

interface Caller {
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface WriterThread {
  write: Writer
  /** Finishes what was handed over, then ends the thread. */
  close(): Promise<void>
}

export function startWriterThread(file: string): WriterThread {
  const callers = new Map<number, Caller>()
  let collected: WriteRequest[] = []
  let nextId = 1
  let closed = false
  let thread: Worker | undefined

  const enqueue = (name: WriteName, input: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(storageUnavailable(new Error('the store is closed')))
      const id = nextId++
      callers.set(id, { resolve, reject })
      if (collected.push({ id, name, input }) === 1) setImmediate(handOver)
    })

  function handOver() {
    if (collected.length === 0) return
    const writes = collected
    collected = []
    thread ??= spawn()
    try {
      thread.postMessage({ kind: 'writes', writes } satisfies ToThread)
    } catch (error) {
      // An input that cannot be copied to the thread is a mistake of ours; nobody may wait for ever because of it.
      for (const { id } of writes)
        settle({ id, ok: false, code: 'INTERNAL_ERROR', message: 'the write failed', cause: String(error) })
    }
  }

  function spawn(): Worker {
    const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: { file } })
    worker.on('message', (replies: WriteReply[]) => replies.forEach(settle))
    worker.on('error', failAll)
    worker.on('messageerror', failAll)
    worker.on('exit', () => thread === worker && failAll(new Error('the writer thread ended')))
    return worker
  }

  function settle(reply: WriteReply) {
    const caller = callers.get(reply.id)
    callers.delete(reply.id)
    if (reply.ok) caller?.resolve(reply.value)
    else caller?.reject(new AppError(reply.code, reply.message, { cause: reply.cause }))
  }

  /** A thread that died answers nobody any more; the next write starts another. */
  function failAll(error: unknown) {
    thread = undefined
    collected = []
    for (const { reject } of callers.values()) reject(storageUnavailable(error))
    callers.clear()
  }

  async function close() {
    closed = true
    handOver()
    if (!thread) return
    const ended = new Promise((resolve) => thread?.once('exit', resolve))
    thread.postMessage({ kind: 'close' } satisfies ToThread)
    await ended
    thread = undefined
  }

  return { write: enqueue as Writer, close }
}
