// One server of the SDK for both transports: a tool that greets, and one that changes the list of tools.
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { CALL_KEY } from '../../../src/contract/tool.ts'

const who = z.object({ name: z.string() })
const nothing = z.object({})

export function createGreeter(): McpServer {
  const server = new McpServer(
    { name: 'greeter', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  )
  server.registerTool('greet', { inputSchema: who }, ({ name }, { mcpReq }) => ({
    content: [{ type: 'text', text: `hello ${name} (${mcpReq._meta?.[CALL_KEY]})` }],
  }))
  server.registerTool('change', { inputSchema: nothing }, () => {
    server.registerTool(`extra-${Date.now()}`, { inputSchema: nothing }, () => ({ content: [] }))
    return { content: [{ type: 'text', text: 'changed' }] }
  })
  return server
}
