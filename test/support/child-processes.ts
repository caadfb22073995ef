// How many processes this one has started that are still there, looked at again and again.
import { readdirSync, readFileSync } from 'node:fs'
import { isAlive } from './processes.ts'

const LOOK_MS = 5

export interface ChildCount extends Disposable {
  /** The most that were there at once. */
  most(): number
}

/** Those that were there before do not count. */
export function countChildren(): ChildCount {
  const before = new Set(children())
  let most = 0
  const look = () => {
    most = Math.max(most, children().filter((pid) => !before.has(pid) && isAlive(pid)).length)
  }
  const timer = setInterval(look, LOOK_MS)
  return { most: () => most, [Symbol.dispose]: () => clearInterval(timer) }
}

function children(): number[] {
  const threads = readdirSync('/proc/self/task')
  return threads.flatMap((thread) => readChildren(thread).split(' ').filter(Boolean).map(Number))
}

/** A thread may end between two looks. */
function readChildren(thread: string): string {
  try {
    return readFileSync(`/proc/self/task/${thread}/children`, 'utf8')
  } catch {
    return ''
  }
}
