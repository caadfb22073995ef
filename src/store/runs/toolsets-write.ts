/** What runs were offered. Many runs are offered the same, so it is kept once, under the hash of what it says. */
import type { OfferedTool } from '../../contract/tool.ts'
import { readJson } from '../json.ts'
import { first, rows, sql, type Write } from '../statement.ts'

/** How exactly the last use is known: every run would have to write it otherwise. */
const USE_KNOWN_TO_MS = 24 * 60 * 60 * 1000

export interface OfferedToolset {
  /** The same for the same tools. */
  hash: string
  /** JSON text. */
  tools: string
}

export function* keepToolset({ hash, tools }: OfferedToolset, at: number): Write<void> {
  yield* rows(sql`
    INSERT INTO toolsets (hash, used_at, tools) VALUES (${hash}, ${at}, ${tools})
    ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at WHERE toolsets.used_at < ${at - USE_KNOWN_TO_MS}`)
}

export function* offeredTools(hash: string): Write<OfferedTool[] | null> {
  const kept = yield* first<{ tools: string }>(sql`SELECT tools FROM toolsets WHERE hash = ${hash}`)
  return kept ? readJson(kept.tools) : null
}

/**
 * Returns how many went. A run that waits for its first claim was offered nothing yet, and there may be very many of
 * them: the other phases are asked for one by one, which is how SQLite finds them by the index of unfinished runs.
 */
export function* forgetToolsets({ unused_since, limit }: { unused_since: number; limit: number }): Write<number> {
  const gone = yield* rows(sql`
    DELETE FROM toolsets WHERE hash IN (
      SELECT hash FROM toolsets WHERE used_at < ${unused_since} AND hash NOT IN (
        SELECT toolset FROM runs WHERE status = 'running' AND phase = 'executing' AND toolset IS NOT NULL UNION ALL
        SELECT toolset FROM runs WHERE status = 'running' AND phase = 'waiting' AND toolset IS NOT NULL UNION ALL
        SELECT toolset FROM runs WHERE status = 'running' AND phase = 'recovering' AND toolset IS NOT NULL)
      ORDER BY used_at LIMIT ${limit})
    RETURNING hash`)
  return gone.length
}
