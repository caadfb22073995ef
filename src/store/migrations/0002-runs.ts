/** What executing runs needs beyond the first schema: blame for crashes, the order of steps, and the age of what ended. */
import type { Dialect } from './dialect.ts'

export const runs = ({ integer }: Dialect): string[] => [
  `ALTER TABLE runs ADD COLUMN crashes ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE steps ADD COLUMN position ${integer} NOT NULL DEFAULT 0`,
  'CREATE INDEX runs_by_end ON runs (completed_at) WHERE completed_at IS NOT NULL',
]
