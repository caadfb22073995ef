/**
 * What is written into the environment of every process that we start. Its own children inherit it, so whatever a
 * server leaves behind can be found by it, whichever group or session it moved to.
 */
import { readdir, readFile } from 'node:fs/promises'

export const SERVICE_MARK = 'AGENTHOST_SERVICE'
export const CONNECTION_MARK = 'AGENTHOST_CONNECTION'

export interface MarkedProcess {
  pid: number
  /** Value of the mark. */
  mark: string
}

/** Every process that carries the mark. Only Linux shows the environment of a process; elsewhere there are none. */
export async function findMarked(name: typeof SERVICE_MARK | typeof CONNECTION_MARK): Promise<MarkedProcess[]> {
  if (process.platform !== 'linux') return []
  const prefix = `${name}=`
  const found: MarkedProcess[] = []
  for (const entry of await readdir('/proc').catch(() => [])) {
    const pid = Number(entry)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    const line = (await environmentOf(pid)).split('\0').find((variable) => variable.startsWith(prefix))
    if (line !== undefined) found.push({ pid, mark: line.slice(prefix.length) })
  }
  return found
}

/** Empty for one that is gone, is about to be, or belongs to somebody else. */
const environmentOf = (pid: number) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')

/** What is ended may have started something just before. */
const MAX_LOOKS = 5

/** Ends all that is found, until nothing is. Returns what that was. */
export async function endAll(find: () => Promise<MarkedProcess[]>, end: (pid: number) => void): Promise<number[]> {
  const ended = new Set<number>()
  for (let look = 0; look < MAX_LOOKS; look++) {
    const found = await find()
    if (found.length === 0) break
    for (const { pid } of found) {
      end(pid)
      ended.add(pid)
    }
  }
  return [...ended]
}

/** Signals the process, and with a negative number its group. One that is gone needs none. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Gone, or no longer ours.
  }
}
