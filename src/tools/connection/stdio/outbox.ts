/** What is written to a process, and what happens when it does not read. */
import type { Writable } from 'node:stream'
import { ServerFailure } from '../connection.ts'
import { MAX_WAITING_BYTES } from '../limits.ts'

/** A server that has read nothing for so long, with so much waiting for it, will not read any more. */
const STUCK_MS = 10_000

/** Returns a function that throws ServerFailure when too much is waiting. */
export function createOutbox(input: Writable): (text: string) => void {
  let movedAt = 0
  const moved = () => {
    movedAt = performance.now()
  }
  return (text) => {
    if (input.writableLength === 0) moved()
    if (input.writableLength > MAX_WAITING_BYTES) throw performance.now() - movedAt > STUCK_MS ? stuck() : busy()
    input.write(text, moved)
  }
}

const busy = () => new ServerFailure('busy', 'the server is busy: 32 MiB are waiting for it to read them')

const stuck = () => new ServerFailure('unreachable', 'the server does not read its input: 32 MiB are waiting for it')
