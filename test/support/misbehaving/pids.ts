// Which processes a misbehaving server was, and whether any of them is still there.
import { existsSync, readFileSync } from 'node:fs'

export const readPids = (file: string): number[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : []

/** A process that has ended and was not waited for yet is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
