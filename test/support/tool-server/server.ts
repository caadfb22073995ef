// A tool server that does what a file tells it: quick to start, so that tests can start it often.
//
//   node server.ts <folder>
//
// <folder>/tools.json lists its tools by name, read at every listing; <folder>/starts gets the pid of every start.
// Every tool answers with what it was called with. `ms` makes a call take that long, `exit` ends the server in the
// middle of it, `bytes` makes the answer that large, `error` makes it an error, `changed` says that the tools have changed.
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [folder = '.'] = process.argv.slice(2)
appendFileSync(join(folder, 'starts'), `${process.pid}\n`)

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

type Tool = string | { name: string; description?: string; annotations?: object }
const describe = (tool: Tool) => ({
  description: 'Answers with what it was called with.',
  inputSchema: { type: 'object' },
  ...(typeof tool === 'string' ? { name: tool } : tool),
})

interface Call {
  name: string
  arguments: { ms?: number; exit?: number; bytes?: number; error?: string; changed?: boolean }
  _meta?: object
}

function answer(id: number, { name, arguments: input = {}, _meta }: Call): void {
  if (input.exit !== undefined) process.exit(input.exit)
  if (input.changed) send({ method: 'notifications/tools/list_changed' })
  const said = { tool: name, pid: process.pid, input, meta: _meta, label: process.env.LABEL }
  const text = input.error ?? (input.bytes ? 'x'.repeat(input.bytes) : JSON.stringify(said))
  const result = { content: [{ type: 'text', text }], isError: input.error !== undefined }
  setTimeout(() => send({ id, result }), input.ms ?? 0)
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') {
      const { protocolVersion } = params
      const capabilities = { tools: { listChanged: true } }
      send({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'test', version: '1' } } })
    } else if (method === 'tools/list') {
      const tools: Tool[] = JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8'))
      send({ id, result: { tools: tools.map(describe) } })
    } else if (method === 'tools/call') answer(id, params)
    else if (id !== undefined) send({ id, error: { code: -32601, message: `no method ${method}` } })
  })
  .on('close', () => process.exit(0))
