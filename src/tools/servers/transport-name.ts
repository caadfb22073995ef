/** The names that MCP clients have for transports, held against what an entry gives. */

const KINDS = new Map<string, 'command' | 'url'>([
  ['stdio', 'command'],
  ['http', 'url'],
  ['streamablehttp', 'url'],
])

/** `kind` is the key that the entry has. */
export function transportMistake(
  key: 'type' | 'transport',
  name: string | undefined,
  kind: 'command' | 'url',
): string | undefined {
  if (name === undefined) return undefined
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '')
  if (plain === 'sse') {
    return `${key} "sse" is not supported: that transport is no longer part of MCP; use the server's streamable HTTP address with "http"`
  }
  const wanted = KINDS.get(plain)
  if (!wanted) return `${key} must be "stdio", "http" or "streamable-http"`
  return wanted === kind ? undefined : `${key} says ${wanted === 'url' ? 'http' : 'stdio'}, but there is a "${kind}"`
}
