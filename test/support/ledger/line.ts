// One line of the ledger: what physically reached the tool server, whatever the service remembers of it.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

export interface LedgerLine {
  /** Microseconds on the machine's monotonic clock: the same for every process. */
  at: number
  /** Which life of the service made the call, counted from 1. */
  life: number
  phase: 'begin' | 'end'
  tool: string
  /** The idempotency key that came with the call. */
  key: string
  input: Record<string, unknown>
}

/** One write to a file opened for appending: lines of several processes never mix. */
export const appendLine = (file: string, line: LedgerLine): void => appendFileSync(file, `${JSON.stringify(line)}\n`)

export function readLedger(file: string): LedgerLine[] {
  if (!existsSync(file)) return []
  // The last line is whole or not there: a killed writer leaves no half of one small write.
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

export const begins = (lines: readonly LedgerLine[], key: string): number =>
  lines.filter((line) => line.phase === 'begin' && line.key === key).length

export const microseconds = (): number => Number(process.hrtime.bigint() / 1000n)
