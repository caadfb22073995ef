/** An environment: a folder that groups agents and the MCP servers their tools come from. */
import { z } from 'zod'
import { time } from './time.ts'

export const environmentName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, 'must be a letter, then letters, digits, _ or -, at most 63')

const syncError = z
  .object({
    file: z.string().optional().meta({ description: 'Path below the environments folder.' }),
    server: z.string().optional(),
    message: z.string(),
  })
  .meta({ id: 'SyncError' })

const lastSync = z
  .object({
    status: z.enum(['ok', 'error']),
    at: time,
    changes: z.int().nonnegative(),
    errors: z.array(syncError),
  })
  .meta({ id: 'LastSync' })

export const environment = z
  .object({
    id: z.string(),
    name: environmentName,
    description: z.string(),
    agents_count: z.int().nonnegative(),
    mcp_servers_count: z.int().nonnegative(),
    tools_count: z.int().nonnegative(),
    last_sync: lastSync.nullable().meta({ description: 'null = never synced.' }),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Environment' })

export const syncRequest = z.strictObject({ dry_run: z.boolean().default(false) }).meta({ id: 'SyncRequest' })

const agentNames = z.array(z.string()).meta({ description: 'Names of agents.' })

export const syncReport = z
  .object({
    dry_run: z.boolean(),
    created: agentNames,
    updated: agentNames,
    removed: agentNames,
    unchanged: agentNames,
    errors: z.array(syncError),
  })
  .meta({ id: 'SyncReport', description: 'What a sync changed, or would change.' })

export type Environment = z.infer<typeof environment>
export type LastSync = z.infer<typeof lastSync>
export type SyncError = z.infer<typeof syncError>
export type SyncReport = z.infer<typeof syncReport>
