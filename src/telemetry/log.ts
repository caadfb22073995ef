/** The log: JSON lines on stderr, written at once so that the last line before an exit is not lost. */
import { destination, type Logger, pino, stdTimeFunctions } from 'pino'
import type { Config } from '../config/schema.ts'

export type Log = Logger

export function createLog(level: Config['log_level']): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(options, destination({ fd: 2, sync: true }))
}
