/** What the service says about its own state. */
import { z } from 'zod'

export const health = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    mode: z.enum(['local', 'platform']),
    uptime_seconds: z.int().nonnegative(),
    database: z.object({ kind: z.enum(['sqlite', 'postgres']), ok: z.boolean() }),
    runs: z.object({
      queued: z.int().nonnegative(),
      executing: z.int().nonnegative(),
      oldest_queued_seconds: z.int().nonnegative(),
    }),
    workers: z.int().nonnegative(),
    mcp_servers: z.object({ up: z.int().nonnegative(), down: z.int().nonnegative() }),
    model: z.object({ provider: z.string(), offline: z.boolean() }),
  })
  .meta({ id: 'Health' })

export type Health = z.infer<typeof health>
