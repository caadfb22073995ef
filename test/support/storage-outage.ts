// A database that cannot be written: another program holds its lock for as long as the test wants.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export function holdDatabase({ home }: { home: string }): { close(): void } {
  const other = new DatabaseSync(join(home, 'data', 'agenthost.sqlite'))
  other.exec('BEGIN EXCLUSIVE')
  return other
}
