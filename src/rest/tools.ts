/** The tools of the environments over REST: listed, and called one at a time to try them out. */
import { z } from 'zod'
import { pageQuery, searchText } from '../contract/page.ts'
import { toolRecord, toolTrial, toolTrialAnswer } from '../contract/tool-record.ts'
import type { ToolCatalog } from '../tools/tool-catalog.ts'
import { type Route, route } from './route.ts'

const tag = 'Tools'

export const toolRoutes = (tools: ToolCatalog): Route[] => [
  route({
    ...{ method: 'GET', path: '/tools', scope: 'read', tag, name: 'listTools' },
    summary: 'List tools, by id; connects to no server',
    query: z.object({
      ...pageQuery(100),
      environment: z.string().optional().meta({ description: 'Only of this environment (name).' }),
      server: z.string().optional().meta({ description: 'Only of servers with this name.' }),
      q: searchText.optional().meta({ description: 'Part of the name or the description.' }),
    }),
    status: 200,
    answers: toolRecord,
    list: true,
    errors: [],
    async handle({ query: { page, limit, ...filter } }) {
      const { items, total } = await tools.tools(filter, { page, limit })
      return { data: items, page: { page, limit, total } }
    },
  }),
  route({
    ...{ method: 'POST', path: '/tools/:id/call', scope: 'execute', tag, name: 'callTool' },
    summary: 'Try a tool, outside any run; its failure is an answer with is_error',
    params: z.object({ id: z.int().positive() }),
    body: toolTrial,
    bodyOptional: true,
    status: 200,
    answers: toolTrialAnswer,
    errors: ['TOOL_NOT_FOUND'],
    handle: async ({ params, body, request }) => ({
      data: await tools.call(params.id, body.arguments, request.signal),
    }),
  }),
]
