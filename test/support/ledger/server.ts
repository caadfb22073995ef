// A tool server outside our walls: real MCP over stdio, every physical call written down before and after it happens.
//
//   node server.ts <ledger file> <life of the service>
//
// Every tool takes whatever it is given. `ms` makes a call take that long; `hang: "once"` leaves the first physical call
// of a key without an answer, `hang: "always"` every one of them. The server ends with its client.
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { CALL_KEY } from '../../../src/contract/tool.ts'
import { appendLine, begins, microseconds, readLedger } from './line.ts'

const [file = '', life = '0'] = process.argv.slice(2)
const server = new McpServer({ name: 'ledger', version: '1.0.0' })
const inputSchema = z.looseObject({
  ms: z.number().optional(),
  hang: z.enum(['once', 'always']).optional(),
  bytes: z.number().optional(),
})
type Input = z.infer<typeof inputSchema>
type Hints = { readOnlyHint?: boolean; idempotentHint?: boolean }

function tool(name: string, annotations: Hints, work: (input: Input, key: string) => CallToolResult): void {
  const description = `Writes down that ${name} was called.`
  server.registerTool(name, { description, inputSchema, annotations }, async (input, context) => {
    const key = String(context.mcpReq._meta?.[CALL_KEY])
    const again = input.hang === 'once' && begins(readLedger(file), key) > 0
    const write = (phase: 'begin' | 'end') =>
      appendLine(file, { at: microseconds(), life: Number(life), phase, tool: name, key, input })
    write('begin')
    if (input.hang && !again) await new Promise(() => {})
    if (input.ms) await sleep(input.ms)
    const answer = work(input, key)
    write('end')
    return answer
  })
}

const says = (text: string, isError = false): CallToolResult => ({ content: [{ type: 'text', text }], isError })

tool('pay', {}, (_input, key) => says(`paid ${key}`))
tool('lookup', { readOnlyHint: true }, (_input, key) => says(`found ${key}`))
tool('put', { idempotentHint: true }, (_input, key) => says(`stored ${key}`))
tool('slow', {}, ({ ms = 0 }) => says(`took ${ms} ms`))
tool('fail', {}, () => says('it cannot be done', true))
tool('big', {}, ({ bytes = 0 }) => says('x'.repeat(bytes)))
/** Takes down the service that calls it. */
tool('murder', {}, () => {
  process.kill(process.ppid, 'SIGKILL')
  return says('never heard')
})

process.stdin.once('end', () => process.exit(0))
await server.connect(new StdioServerTransport())
