/** The service's side of the search thread: starts it when first needed, asks one thing at a time, bounds the queue. */
import { Worker } from 'node:worker_threads'
import { AppError } from '../../contract/errors.ts'
import type { Search } from '../search.ts'
import { contains } from './contains.ts'
import { storageUnavailable } from './failure.ts'
import type { SearchAnswer, SearchQuery, ToSearchThread } from './protocol.ts'

/** A search over a million runs takes seconds: whoever came behind this many would have given up. */
const MOST_WAITING = 100

interface Caller {
  query: SearchQuery
  resolve(rows: unknown[]): void
  reject(error: unknown): void
}

export interface SearchThread extends Search {
  /** Refuses what waits, breaks off what is under way, and ends the thread. */
  close(): Promise<void>
}

export function createSearchThread(file: string): SearchThread {
  const waiting: Caller[] = []
  let asked: Caller | undefined
  let thread: Worker | undefined
  let closed = false

  const enqueue = ({ sql, parameters }: SearchQuery): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(isClosed())
      if (waiting.length >= MOST_WAITING) return reject(tooMany())
      waiting.push({ query: { sql, parameters }, resolve, reject })
      askNext()
    })

  function askNext() {
    if (asked) return
    asked = waiting.shift()
    if (!asked) return
    thread ??= spawn()
    thread.postMessage({ kind: 'search', ...asked.query } satisfies ToSearchThread)
  }

  function spawn(): Worker {
    const worker = new Worker(new URL('./search-thread.ts', import.meta.url), { workerData: { file } })
    worker.on('message', settle)
    worker.on('error', (error) => lost(worker, error))
    worker.on('exit', () => lost(worker, new Error('the search thread ended')))
    return worker
  }

  function settle(answer: SearchAnswer) {
    const caller = asked
    asked = undefined
    if (answer.ok) caller?.resolve(answer.rows)
    else caller?.reject(answer.is_storage ? storageUnavailable(answer.cause) : failed(answer.cause))
    askNext()
  }

  /** A thread that died takes one search along; the next one starts another. */
  function lost(worker: Worker, error: unknown) {
    if (thread !== worker) return
    thread = undefined
    asked?.reject(storageUnavailable(error))
    asked = undefined
    if (!closed) askNext()
  }

  async function close() {
    closed = true
    for (const { reject } of waiting.splice(0)) reject(isClosed())
    if (!thread) return
    const ended = new Promise((resolve) => thread?.once('exit', resolve))
    if (asked) await thread.terminate()
    else thread.postMessage({ kind: 'close' } satisfies ToSearchThread)
    await ended
  }

  // The rows have the type that their query was compiled with.
  return { execute: enqueue as Search['execute'], contains, close }
}

const isClosed = () => storageUnavailable(new Error('the store is closed'))

const tooMany = () =>
  new AppError('STORAGE_UNAVAILABLE', 'too many searches are waiting; try again in a moment, or ask for less')

const failed = (cause: string) => new AppError('INTERNAL_ERROR', 'the search failed', { cause })
