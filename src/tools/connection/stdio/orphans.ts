/**
 * What a service that was killed has left running. Most servers end by themselves when their input closes; one that does
 * not would stay for ever. Linux only: elsewhere nobody can tell whose child a process was.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import type { Log } from '../../../telemetry/log.ts'
import { endAll, findMarked, SERVICE_MARK, signal } from './process-marks.ts'

/** Which home and which process a child belongs to: `<home>.<pid>.<start time of that pid>`. */
export const serviceMark = (home: string): string => `${homeId(home)}.${process.pid}.${startTime(process.pid) ?? 0}`

/** Ends what earlier services of this home have left behind, and tells how many processes that were. */
export async function reapOrphans({ home, log }: { home: string; log: Log }): Promise<number> {
  const own = homeId(home)
  // A service may be started from a shell that a tool server has left behind.
  const family = ancestors()
  const orphans = async () =>
    (await findMarked(SERVICE_MARK)).filter(
      ({ pid, mark }) => isOrphan(mark, own) && !family.has(pid) && !isBesideUs(pid),
    )
  const pids = await endAll(orphans, end)
  if (pids.length > 0) log.warn({ pids }, 'ended processes of tool servers that an earlier life has left behind')
  return pids.length
}

function end(pid: number): void {
  if (groupOf(pid) === pid) signal(-pid, 'SIGKILL')
  signal(pid, 'SIGKILL')
}

/** Part of the same command line, such as what our output is piped into. */
const isBesideUs = (pid: number) => groupOf(pid) === groupOf(process.pid)

/** Who started this process, and who started those. */
function ancestors(): Set<number> {
  const found = new Set<number>()
  for (let pid = process.ppid; pid > 0 && !found.has(pid); pid = parentOf(pid)) found.add(pid)
  return found
}

function isOrphan(mark: string, home: string): boolean {
  const [, id, pid, started] = MARK.exec(mark) ?? []
  return id === home && startTime(Number(pid)) !== started
}

const MARK = /^([0-9a-f]{16})\.([1-9]\d*)\.([1-9]\d*)$/

/** Pids mean something only among processes that see the same ones, and one path may be several folders. */
function homeId(home: string): string {
  const { dev, ino } = statSync(home)
  return createHash('sha256')
    .update([realpathSync(home), dev, ino, pidNamespace()].join('\n'))
    .digest('hex')
    .slice(0, 16)
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** In clock ticks since the machine started, so that the next process of the same number is told apart. */
const startTime = (pid: number) => statOf(pid)[19]

const parentOf = (pid: number) => Number(statOf(pid)[1] ?? 0)

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
