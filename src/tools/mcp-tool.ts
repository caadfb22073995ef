/** A tool of an MCP server as the engine sees it: every call carries the key that makes its repetitions one call. */
import type { CallToolResult, Client, Tool as McpTool } from '@modelcontextprotocol/client'
import type { Json, Tool, ToolAnswer } from '../contract/tool.ts'
import { repeatPolicy, type ServerPromises } from './repeat-policy.ts'

/** In the `_meta` of every call. */
export const CALL_KEY = 'io.agenthost/idempotencyKey'

const DEFAULT_TIMEOUT_MS = 60_000

interface McpToolParts extends ServerPromises {
  client: Client
  server: string
  tool: McpTool
  /** As agents see it; its own name when left out. */
  name?: string
  timeout_ms?: number
}

export function mcpTool({ client, server, tool, name, timeout_ms, retry, trusted }: McpToolParts): Tool {
  const timeout = timeout_ms ?? DEFAULT_TIMEOUT_MS
  return {
    name: name ?? tool.name,
    server,
    description: tool.description ?? '',
    input_schema: tool.inputSchema as Tool['input_schema'],
    repeat: repeatPolicy({ retry, trusted }, tool.annotations),
    async call(input, { key, signal }) {
      const params = { name: tool.name, arguments: input, _meta: { [CALL_KEY]: key } }
      return toAnswer(await client.callTool(params, { signal, timeout }))
    },
  }
}

/** Text as text; anything else as the JSON the server sent. */
function toAnswer({ content, structuredContent, isError = false }: CallToolResult): ToolAnswer {
  if (structuredContent) return { output: structuredContent as Json, is_error: isError }
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const output = texts.length === content.length ? texts.join('\n') : (content as unknown as Json)
  return { output, is_error: isError }
}
