/** The MCP servers of the environments over REST: read only, since they come from files alone. */
import { z } from 'zod'
import { mcpServer } from '../contract/mcp-server.ts'
import { pageQuery } from '../contract/page.ts'
import type { ToolCatalog } from '../tools/tool-catalog.ts'
import { type Route, route } from './route.ts'

export const mcpServerRoutes = (tools: ToolCatalog): Route[] => [
  route({
    ...{ method: 'GET', path: '/mcp-servers', scope: 'read', tag: 'Tools', name: 'listMcpServers' },
    summary: 'List MCP servers, by id; connects to none',
    query: z.object({
      ...pageQuery(100),
      environment: z.string().optional().meta({ description: 'Only of this environment (name).' }),
    }),
    status: 200,
    answers: mcpServer,
    list: true,
    errors: [],
    async handle({ query: { page, limit, ...filter } }) {
      const { items, total } = await tools.servers(filter, { page, limit })
      return { data: items, page: { page, limit, total } }
    },
  }),
]
