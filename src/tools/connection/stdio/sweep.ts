/**
 * Kills what carries the mark of a connection that is over. A look at all processes costs milliseconds, and many
 * connections may end at once: those that ask while a look is under way share the next one.
 */
import { CONNECTION_MARK, findMarked, signal } from './process-marks.ts'

/** Resolves when nothing with this mark was left at the last look. */
export type Sweep = (mark: string) => Promise<void>

/** What is killed may have started something just before. */
const MAX_LOOKS = 5

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
  for (let look = 0; look < MAX_LOOKS; look++) {
    const left = (await findMarked(CONNECTION_MARK)).filter(({ mark }) => marks.has(mark))
    if (left.length === 0) return
    for (const { pid } of left) signal(pid, 'SIGKILL')
  }
}
