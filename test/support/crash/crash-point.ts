// A store in which the process dies at a chosen write: right before it is handed over, or right after its commit.
//
//   before:7            at the 7th of the counted writes
//   after:recordSteps:2 at the 2nd of this name
import type { Store } from '../../../src/store/store.ts'
import type { WriteName, Writer } from '../../../src/store/writes.ts'

/** The writes that a run's life hangs on. */
const COUNTED: ReadonlySet<string> = new Set(['acceptRun', 'claimRun', 'recordSteps', 'releaseRun', 'requestCancel'])

export interface CrashPoint {
  when: 'before' | 'after'
  name: string | undefined
  count: number
  /** Only runs accepted in this life with this variable `batch` count; undefined = all writes do. */
  batch: string | undefined
}

export function readCrashPoint(text: string, batch?: string): CrashPoint {
  const [, when, name, digits] = /^(before|after):(?:(\w+):)?(\d+)$/.exec(text) ?? []
  if (!when) throw new Error(`'${text}' is no crash point`)
  return { when: when as CrashPoint['when'], name, count: Number(digits), batch }
}

export function withCrashPoint(store: Store, { when, name, count, batch }: CrashPoint): Store {
  const inBatch = new Set<number>()
  let seen = 0

  function isCounted(write: string, input: Input): boolean {
    if (name ? write !== name : !COUNTED.has(write)) return false
    if (batch === undefined) return true
    return write === 'acceptRun' ? input.variables?.batch === batch : inBatch.has(runIdOf(input))
  }

  const write = async (writeName: WriteName, input: never) => {
    const isHere = isCounted(writeName, input) && ++seen === count
    if (isHere && when === 'before') die()
    const result = await store.write(writeName, input)
    if (isHere && when === 'after') die()
    if (writeName === 'acceptRun' && (input as Input).variables?.batch === batch) {
      inBatch.add((result as { answer: { run_id: number } }).answer.run_id)
    }
    return result
  }
  return { ...store, write: write as Writer }
}

/** The fields that tell whom a write is about. */
interface Input {
  run_id?: number
  id?: number
  variables?: Record<string, string>
}

const runIdOf = ({ run_id, id }: Input): number => run_id ?? id ?? 0

/** No handler runs and nothing is flushed. */
function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal is on its way; nothing more may happen until it is here.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
}
