/** The same tool server, called in two ways: as runs call it, and with the SDK's client and nothing around it. */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { openSupervisorHouse } from '../test/support/supervisor-house.ts'

/** As a server file has it. */
export type Entry = { command: string; args: string[]; env?: Record<string, string> } | { url: string }

type Input = Record<string, string | number | boolean>

export interface Caller extends AsyncDisposable {
  /** Rejects when the tool has failed. */
  call(tool: string, input: Input): Promise<void>
}

/** Connects at the first call. */
export async function supervised(entry: Entry): Promise<Caller> {
  const house = await openSupervisorHouse()
  await house.servers({ bench: entry })
  return {
    async call(tool, input) {
      const { output, is_error } = await house.call('bench', tool, input)
      if (is_error) throw new Error(String(output))
    },
    [Symbol.asyncDispose]: house[Symbol.asyncDispose],
  }
}

/** Is connected. */
export async function bare(entry: Entry): Promise<Caller> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transportOf(entry))
  return {
    async call(name, input) {
      const { content, isError } = await client.callTool({ name, arguments: input })
      if (isError) throw new Error(JSON.stringify(content))
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const transportOf = (entry: Entry): Transport =>
  'url' in entry
    ? new StreamableHTTPClientTransport(new URL(entry.url))
    : new StdioClientTransport({ ...entry, stderr: 'ignore' })
