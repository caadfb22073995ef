// Which processes are alive, asked from the system.
import { readdirSync, readFileSync } from 'node:fs'

/** One that has ended and was not waited for is no longer alive. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/\) [ZX] /.test(stat)
  } catch {
    return false
  }
}

/** Processes with this text in their environment. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && environmentOf(pid).includes(text))
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}
