/**
 * Kills what carries the mark of a connection that is over. A look at all processes costs milliseconds, and many
 * connections may end at once: those that ask while a look is under way share the next one.
 */
import { CONNECTION_MARK, endAll, findMarked, signal } from './process-marks.ts'

/** Resolves when nothing with this mark was left at the last look. */
export type Sweep = (mark: string) => Promise<void>

export function createSweep(): Sweep {
  let running = Promise.resolve()
  let next: { marks: Set<string>; done: Promise<void> } | undefined
  return (mark) => {
    if (next) {
      next.marks.add(mark)
      return next.done
    }
    const marks = new Set([mark])
    const done = running.then(() => {
      next = undefined
      return killMarked(marks)
    })
    next = { marks, done }
    running = done
    return done
  }
}

async function killMarked(marks: ReadonlySet<string>): Promise<void> {
  const left = async () => (await findMarked(CONNECTION_MARK)).filter(({ mark }) => marks.has(mark))
  await endAll(left, (pid) => signal(pid, 'SIGKILL'))
}
