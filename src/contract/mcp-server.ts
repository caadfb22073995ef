/** An MCP server as others see it: where it is and how it does, never a secret. */
import { z } from 'zod'
import { time } from './time.ts'

export const mcpServer = z
  .object({
    id: z.int().positive(),
    name: z.string(),
    environment: z.string(),
    transport: z.enum(['stdio', 'http']),
    command: z.string().optional().meta({ description: 'stdio only. As the file has it, secrets masked.' }),
    args: z.array(z.string()).optional().meta({ description: 'stdio only. As the file has them, secrets masked.' }),
    url: z.string().optional().meta({ description: 'http only. As the file has it, secrets masked.' }),
    status: z.enum(['idle', 'connecting', 'up', 'down']),
    error: z.string().nullable().meta({ description: 'Why it is down, or what is wrong with it although it is up.' }),
    tools_count: z.int().nonnegative(),
    last_connected_at: time.nullable(),
  })
  .meta({ id: 'McpServer' })

export type McpServer = z.infer<typeof mcpServer>
export type ServerStatus = McpServer['status']

/** The part of a record that says where the server is. */
export type ShownTarget = { command: string; args: string[] } | { url: string }
