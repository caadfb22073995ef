/** The servers and tools of all environments, as the database knows them, and single calls to try a tool out. */
import { randomUUID } from 'node:crypto'
import { AppError } from '../contract/errors.ts'
import type { McpServer } from '../contract/mcp-server.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import type { Json, ToolAnswer } from '../contract/tool.ts'
import type { ToolRecord } from '../contract/tool-record.ts'
import type { Store } from '../store/store.ts'
import type { ToolFilter } from '../store/tools/tools.ts'
import { ServerFailure } from './connection/connection.ts'
import type { Supervisor } from './supervisor/supervisor.ts'

export interface ToolCatalog {
  servers(filter: { environment?: string | undefined }, page: PageRequest): Promise<Page<McpServer>>
  tools(filter: ToolFilter, page: PageRequest): Promise<Page<ToolRecord>>
  /** Tries one tool, outside any run. TOOL_NOT_FOUND. */
  call(id: number, input: { [key: string]: Json }, signal: AbortSignal): Promise<ToolAnswer>
}

interface ToolCatalogParts {
  store: Pick<Store, 'servers' | 'tools'>
  supervisor: Pick<Supervisor, 'call'>
}

export function createToolCatalog({ store, supervisor }: ToolCatalogParts): ToolCatalog {
  return {
    servers: (filter, page) => store.servers.list(filter, page),
    tools: (filter, page) => store.tools.list(filter, page),
    async call(id, input, signal) {
      const found = await store.tools.find(id)
      if (!found) throw new AppError('TOOL_NOT_FOUND', `Tool with ID ${id} not found`)
      const { environment, server, own_name, input_schema } = found
      const target = { environment, server, tool: { name: own_name, input_schema } }
      try {
        return await supervisor.call(target, input, { key: `trial:${randomUUID()}`, signal })
      } catch (error) {
        // Whoever has gone away reads no answer, and a call that was given up for that is no fault of ours.
        if (signal.aborted) return { output: 'The call was given up: nobody waits for its answer.', is_error: true }
        if (error instanceof ServerFailure) return { output: error.message, is_error: true }
        throw error
      }
    },
  }
}
