/** The SDK's client as we want it: it offers nothing, compiles nothing that a server sends, and prints nothing. */
import {
  Client,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { VERSION } from '../../version.ts'

const accept = <T>(data: unknown): JsonSchemaValidatorResult<T> => ({
  valid: true,
  data: data as T,
  errorMessage: undefined,
})

/** A schema of a hostile server, with its patterns and references, could keep a compiler busy for ever. */
const ACCEPTS_ALL: jsonSchemaValidator = { getValidator: () => accept }

export function createClient(mode: VersionNegotiationMode, onOddity: (error: Error) => void): Client {
  const client = new Client(
    { name: 'agenthost', version: VERSION },
    { capabilities: {}, jsonSchemaValidator: ACCEPTS_ALL, versionNegotiation: { mode } },
  )
  client.onerror = onOddity
  return client
}
