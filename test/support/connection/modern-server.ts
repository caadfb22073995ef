// A server of the SDK in the modern era, over stdio; with `modern-only` it refuses the older handshake.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createGreeter } from './greeter.ts'

serveStdio(createGreeter, { legacy: process.argv[2] === 'modern-only' ? 'reject' : 'serve' })
process.stdin.once('end', () => process.exit(0))
