// An MCP server over stdio that does what no server should: raw JSON-RPC, one oddity for each mode and each tool.
//
//   node odd-server.ts <mode>
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

type Json = Record<string, unknown>

const mode = process.argv[2] ?? ''
const send = (message: Json) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tool = (name: unknown, rest: Json = {}) => ({ name, inputSchema: { type: 'object' }, ...rest })
const says = (text: string) => ({ content: [{ type: 'text', text }] })

function nested(levels: number): Json {
  let value: Json = {}
  for (let level = 0; level < levels; level++) value = { down: value }
  return value
}

const LISTS: Record<string, (cursor: number) => Json> = {
  'bad-tools': () => ({
    tools: [
      tool('good', { description: 'x'.repeat(20_000), annotations: { readOnlyHint: true } }),
      ...['no object', null, tool(''), tool(7), tool('n'.repeat(300)), { name: 'without-schema' }],
      tool('array-schema', { inputSchema: { type: 'array' } }),
      tool('large', { description: 'x'.repeat(200_000) }),
      tool('deep', { inputSchema: { type: 'object', properties: nested(100) } }),
      tool('odd-rest', { annotations: 'none', title: 7, outputSchema: { type: 'object', pattern: '(a+)+$' } }),
      tool('good'),
    ],
  }),
  'many-tools': (cursor) => ({
    tools: Array.from({ length: 600 }, (_, index) => tool(`tool-${cursor}-${index}`)),
    ...(cursor < 1 ? { nextCursor: String(cursor + 1) } : {}),
  }),
  'endless-pages': (cursor) => ({ tools: [tool(`tool-${cursor}`)], nextCursor: String(cursor + 1) }),
}

function stayAlive(): void {
  setInterval(() => {}, 1e6)
}

/** Starts a program that would never end, holds our pipes, and is in our group or in a session of its own. */
function startHelper(detached: boolean): number | undefined {
  const code = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)'
  return spawn(process.execPath, ['-e', code], { detached, stdio: 'inherit' }).pid
}

const TOOLS: Record<string, (id: unknown, input: Json, params: Json) => void> = {
  echo: (id, input) => send({ id, result: says(String(input.text)) }),
  meta: (id, _input, { _meta }) =>
    send({ id, result: { content: [], structuredContent: { _meta, env: process.env } } }),
  silent: () => {},
  refuse: (id) => send({ id, error: { code: -32_602, message: 'no such thing' } }),
  'huge-id-first': (id, { bytes }) => send({ id, result: says('x'.repeat(Number(bytes))) }),
  'huge-id-last': (id, { bytes }) => send({ result: says('x'.repeat(Number(bytes))), id }),
  endless() {
    const piece = 'x'.repeat(1024 * 1024)
    const more = () => process.stdout.write(piece, more)
    more()
  },
  noise(id) {
    process.stdout.write('a line of text\n\n{"half": \n[1]\n{"jsonrpc":"1.0"}\n')
    process.stdout.write(Buffer.from([0xff, 0xfe, 0x22, 0x0a]))
    const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: says('héllo → wörld') })}\r\n`)
    process.stdout.write(line.subarray(0, line.indexOf(0xc3) + 1), () =>
      setImmediate(() => process.stdout.write(line.subarray(line.indexOf(0xc3) + 1))),
    )
  },
  'wrong-ids'(id) {
    send({ id: 4_711, result: says('wrong') })
    send({ id: null, error: { code: -32_700, message: 'wrong' } })
    send({ id: String(id), result: says('right') })
    send({ id, result: says('too late') })
  },
  exit: (_id, { text, code }) => process.stderr.write(String(text), () => process.exit(Number(code))),
  'close-output'() {
    stayAlive()
    closeSync(1)
  },
  'close-input'(id) {
    stayAlive()
    process.stdin.destroy()
    closeSync(0)
    send({ id, result: says('closed') })
  },
  deaf(id) {
    stayAlive()
    process.stdin.pause()
    send({ id, result: says('deaf from now on') })
  },
  helper: (id, { detached }) => send({ id, result: says(String(startHelper(detached === true))) }),
  deep: (id, { levels }) => send({ id, result: { content: [], structuredContent: nested(Number(levels)) } }),
  parts: (id, { count }) =>
    send({ id, result: { content: Array.from({ length: Number(count) }, () => ({ type: 'text', text: '' })) } }),
  'odd-parts': (id) => send({ id, result: { content: [{ type: 'smell' }, 7], structuredContent: undefined } }),
  picture: (id) => send({ id, result: { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] } }),
  'storm-of-changes'(id) {
    for (let time = 0; time < 1_000; time++) send({ method: 'notifications/tools/list_changed' })
    send({ id, result: says('told') })
  },
  'asks-back'(id) {
    send({ id: 'back', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
    answers.set('back', (answer) => send({ id, result: says(JSON.stringify(answer.error)) }))
  },
}
const answers = new Map<unknown, (answer: Json) => void>()

const REQUESTS: Record<string, (id: unknown, params: Json) => void> = {
  initialize(id, { protocolVersion }) {
    const capabilities = mode === 'no-tools' ? {} : { tools: { listChanged: true } }
    send({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'odd', version: '1' } } })
  },
  'tools/list'(id, { cursor }) {
    const list = LISTS[mode] ?? (() => ({ tools: Object.keys(TOOLS).map((name) => tool(name)) }))
    send({ id, result: list(Number(cursor ?? 0)) })
  },
  'tools/call': (id, params) => TOOLS[String(params.name)]?.(id, params.arguments as Json, params),
}

function onLine(line: string): void {
  const { id, method, params = {}, ...rest } = JSON.parse(line)
  if (mode === 'mute') return void process.stderr.write('waiting for s3cret\n')
  if (method === undefined) answers.get(id)?.(rest)
  else REQUESTS[method]?.(id, params)
}

if (mode === 'stubborn') {
  process.on('SIGTERM', () => {})
  stayAlive()
}
if (mode === 'dies') {
  process.stderr.write('\u001b[31mno\nconfiguration\u0007\u001b[0m for s3cret\n')
  process.exit(3)
}
createInterface({ input: process.stdin }).on('line', onLine)
