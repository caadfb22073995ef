// A small MCP server to copy: five tools over stdio, for clients old and new, until its input ends. An environment gets
// it through a file such as environments/default/example.json.
import { enableCompileCache } from 'node:module'

// What is imported from here on is compiled once and kept, which makes every later start shorter.
enableCompileCache()
const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
const { createServer } = await import('./tools.ts')

serveStdio(createServer)
