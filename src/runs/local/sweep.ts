/** Finds runs by their rows: what earlier processes left, and later whatever nobody told about. */
import { setImmediate as breathe } from 'node:timers/promises'
import type { RunReads, WaitingRun } from '../../store/runs/reads.ts'
import type { Log } from '../../telemetry/log.ts'

const PAGE = 1000
const EVERY_MS = 5000

export interface Sweep {
  /** Reads what waits and was not read before. */
  read(): Promise<void>
  /** Reads again every few seconds. */
  begin(): void
  stop(): void
}

interface SweepParts {
  runs: Pick<RunReads, 'waiting'>
  /** A page of what was found. */
  onFound(runs: WaitingRun[]): void
  log: Log
}

export function createSweep({ runs, onFound, log }: SweepParts): Sweep {
  let after = 0
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function read(): Promise<void> {
    for (;;) {
      const page = await runs.waiting(after, PAGE)
      after = page.at(-1)?.id ?? after
      onFound(page)
      if (page.length < PAGE) return
      // A long queue must not keep everybody else waiting while it is read.
      await breathe()
    }
  }

  async function readAgain(): Promise<void> {
    await read().catch((error) => log.debug({ err: error }, 'waiting runs could not be read; tried again soon'))
    begin()
  }

  function begin(): void {
    if (!isStopped) timer = setTimeout(readAgain, EVERY_MS).unref()
  }

  return {
    read,
    begin,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
