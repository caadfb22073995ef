// The ledger server's tools as the engine gets them: through the real MCP client, with the promises an operator makes.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Tool } from '../../../src/contract/tool.ts'
import { mcpTool } from '../../../src/tools/mcp-tool.ts'
import type { ServerPromises } from '../../../src/tools/repeat-policy.ts'

export interface LedgerTools extends AsyncDisposable {
  tools: Tool[]
  close(): Promise<void>
}

interface LedgerOptions {
  /** Where the physical calls are written down. */
  file: string
  life: number
  /** One set of tools for each name, `<name>_<tool>`; the name '' leaves the tools their own names. */
  promises: Readonly<Record<string, ServerPromises>>
}

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))

export async function startLedgerTools({ file, life, promises }: LedgerOptions): Promise<LedgerTools> {
  const client = new Client({ name: 'agenthost-test', version: '1.0.0' })
  // It starts with every life of the service: the cache halves that.
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [SERVER, file, String(life)],
    env,
    stderr: 'inherit',
  })
  await client.connect(transport)
  const { tools } = await client.listTools()
  const close = () => client.close()
  return {
    tools: Object.entries(promises).flatMap(([server, promise]) =>
      tools.map((tool) =>
        mcpTool({ client, tool, server: server || 'ledger', name: named(server, tool.name), ...promise }),
      ),
    ),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const named = (server: string, tool: string) => (server === '' ? tool : `${server}_${tool}`)
