/** The SDK's client as we want it: it asks for nothing, compiles nothing that a server sends, and prints nothing. */
import { Client, type VersionNegotiationOptions } from '@modelcontextprotocol/client'
import type { Log } from '../../telemetry/log.ts'
import { VERSION } from '../../version.ts'

/** A schema of a hostile server, with its patterns and references, could keep a compiler busy for ever. */
const ACCEPTS_ALL = { getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) as never }

export function createClient(versionNegotiation: VersionNegotiationOptions, log: Log): Client {
  const client = new Client(
    { name: 'agenthost', version: VERSION },
    { capabilities: {}, jsonSchemaValidator: ACCEPTS_ALL, versionNegotiation },
  )
  client.onerror = (error) => log.debug({ error: error.message.slice(0, 500) }, 'an MCP server does something odd')
  return client
}
