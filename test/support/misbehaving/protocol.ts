// What a server says that has nothing wrong with it: the base that every fault stands on.

export interface Message {
  jsonrpc?: string
  id?: number | string
  method?: string
  params?: {
    name?: string
    arguments?: Record<string, unknown>
    cursor?: string
    requestId?: number | string
    protocolVersion?: string
  }
  result?: unknown
  error?: unknown
}

export interface ToolEntry {
  name: string
  description: string
  inputSchema: object
  outputSchema?: object
}

export const tool = (name: string, description = `The tool ${name}.`): ToolEntry => ({
  name,
  description,
  inputSchema: { type: 'object' },
})

export const TOOLS = [tool('ok'), tool('fault')]

export const says = (text: string, isError = false) => ({ content: [{ type: 'text', text }], isError })

/** Answers of the newer era carry these; older clients do not mind. */
const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

/** The answer to a request, without its id. */
export function normalAnswer({ method, params = {} }: Message): { result: object } | { error: object } {
  if (method === 'initialize') return { result: greeting(params.protocolVersion) }
  if (method === 'ping') return { result: {} }
  if (method === 'tools/list') return { result: { tools: TOOLS, ...COMPLETE } }
  if (method === 'tools/call') return { result: { ...says(params.name ?? ''), resultType: 'complete' } }
  return { error: { code: -32601, message: `no method ${method}` } }
}

const greeting = (protocolVersion = '2025-06-18') => ({
  protocolVersion,
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'misbehaving', version: '1.0.0' },
})

/** What a server of the newer era is asked first. */
export const discovery = () => ({
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ...COMPLETE,
})

export const isCallOf = (name: string, { method, params }: Message): boolean =>
  method === 'tools/call' && params?.name === name
