/**
 * What a service that was killed has left running. Most servers end by themselves when their input closes; one that does
 * not would stay for ever. Linux only: elsewhere nobody can tell whose child a process was.
 */
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import type { Log } from '../../../telemetry/log.ts'
import { findMarked, SERVICE_MARK, signal } from './process-marks.ts'

/** Which home and which process a child belongs to: `<home>.<pid>.<start time of that pid>`. */
export const serviceMark = (home: string): string => `${homeId(home)}.${process.pid}.${startTime(process.pid) ?? 0}`

/** Ends what earlier services of this home have left behind, and tells how many processes that were. */
export async function reapOrphans({ home, log }: { home: string; log: Log }): Promise<number> {
  const own = homeId(home)
  const orphans = (await findMarked(SERVICE_MARK)).filter(({ mark }) => isOrphan(mark, own))
  for (const { pid } of orphans) {
    if (groupOf(pid) === pid) signal(-pid, 'SIGKILL')
    signal(pid, 'SIGKILL')
  }
  if (orphans.length > 0) log.warn({ count: orphans.length }, 'ended the MCP servers that an earlier life left behind')
  return orphans.length
}

function isOrphan(mark: string, home: string): boolean {
  const [id, pid, started] = mark.split('.')
  return id === home && pid !== undefined && startTime(Number(pid)) !== started
}

const homeId = (home: string) => createHash('sha256').update(realpathSync(home)).digest('hex').slice(0, 16)

/** In clock ticks since the machine started, so that the next process of the same number is told apart. */
const startTime = (pid: number) => statOf(pid)[19]

const groupOf = (pid: number) => Number(statOf(pid)[2])

/** The fields after the name of the program, which may contain anything. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
