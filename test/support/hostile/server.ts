// A tool server over stdio that means harm: it floods, answers with whatever it is told, and lists what it should not.
//
//   PIDS=<file> node server.ts <list>
//
// Each tool is one way to attack. The file gets the pid of every start.
import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { HOSTILE_LISTS } from './lists.ts'

type Json = Record<string, unknown>

const [list = ''] = process.argv.slice(2)
if (process.env.PIDS) appendFileSync(process.env.PIDS, `${process.pid}\n`)

const write = (text: string) => process.stdout.write(text)
const send = (message: Json) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const says = (text: string) => ({ content: [{ type: 'text', text }] })

/** As many of them as the pipe takes, for ever. */
function flood(line: string): void {
  const piece = `${line}\n`.repeat(Math.ceil(65_536 / (line.length + 1)))
  const more = () => {
    while (process.stdout.write(piece));
    process.stdout.once('drain', more)
  }
  more()
}

/** Reads nothing meanwhile. */
function holdUntilThereIs(file: string): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(file)) Atomics.wait(nothing, 0, 0, 10)
}

const manyKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))

const TOOLS: Record<string, (id: unknown, input: Json) => void> = {
  ok: (id) => send({ id, result: says('ok') }),
  flood: (_id, { line }) => flood(String(line)),
  /** Whatever it is told to. */
  answer: (id, body) => send({ id, ...body }),
  /** Texts, each so many times in a row, with its own id where they want it. */
  write: (id, { pieces }) => {
    const texts = (pieces as [string, number][]).map(([text, times]) => text.repeat(times))
    write(texts.join('').replace('<id>', String(id)))
  },
  keys: (id, { count, where }) => send({ id, result: { ...says('ok'), [String(where)]: manyKeys(Number(count)) } }),
  /** The same in something that nobody asked for. */
  notice(id, { count }) {
    send({ method: 'notifications/tools/list_changed', params: manyKeys(Number(count)) })
    send({ id, result: says('ok') })
  },
  chat(id, { times }) {
    const notice = { method: 'notifications/message', params: { level: 'info', data: 'x' } }
    for (let time = 0; time < Number(times); time++) send(notice)
    send({ id, result: says('ok') })
  },
  hold(id, { file }) {
    holdUntilThereIs(String(file))
    send({ id, result: says('ok') })
  },
  die: (_id, { words }) => process.stderr.write(String(words), () => process.exit(3)),
}

const REQUESTS: Record<string, (id: unknown, params: Json) => void> = {
  initialize(id, { protocolVersion }) {
    if (list === 'rubbish-greeting') return void send({ id, result: { protocolVersion: 7, capabilities: 'all' } })
    send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'hostile', version: '1' } },
    })
  },
  'tools/list'(id, { cursor }) {
    const tools = Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } }))
    const page = HOSTILE_LISTS[list]?.(Number(cursor ?? 0)) ?? JSON.stringify({ tools })
    write(`{"jsonrpc":"2.0","id":${id},"result":${page}}\n`)
  },
  'tools/call': (id, { name, arguments: input }) => TOOLS[String(name)]?.(id, input as Json),
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line)
    REQUESTS[method]?.(id, params)
  })
  .on('close', () => process.exit(0))
