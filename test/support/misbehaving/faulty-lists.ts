// Faults in the list of tools: too many, too large, too clever, or no tools at all.
import { type Behaviour, isCall, onMethod, type Running } from './behaviour.ts'
import { isCallOf, type Message, normalAnswer, says, TOOLS, tool } from './protocol.ts'

const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const DEPTH = 10_000

/** These beside the good ones. */
const listed = (make: () => readonly unknown[]): Behaviour =>
  onMethod('tools/list', ({ id }, { answer }) => answer(id, { tools: [...TOOLS, ...make()] }))

function bombs() {
  const cycle = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }
  const pattern = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } }
  return [
    { ...tool('cycle'), inputSchema: { type: 'object', properties: { a: cycle } } },
    { ...tool('deep'), inputSchema: { type: 'object', properties: 'DEEP' } },
    { ...tool('pattern'), outputSchema: pattern },
  ]
}

/** Written by hand, because serializers give up on such a depth. */
const deep = () => `${'{"a":{"properties":'.repeat(DEPTH)}{}${'}}'.repeat(DEPTH)}`

function schemaBombs(server: Running) {
  return (message: Message) => {
    const { id, method } = message
    if (isCallOf('pattern', message)) {
      server.answer(id, { ...says('pattern'), structuredContent: { text: `${'a'.repeat(60)}!` } })
      return true
    }
    if (method !== 'tools/list') return false
    const line = JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [...TOOLS, ...bombs()] } })
    server.write(`${line.replace('"DEEP"', deep())}\n`)
    return true
  }
}

const changing =
  (tells: boolean): Behaviour =>
  (server) => {
    const extra: object[] = []
    return (message) => {
      if (message.method === 'tools/list') server.answer(message.id, { tools: [...TOOLS, ...extra] })
      if (isCall(message)) {
        extra.push(tool(`extra-${extra.length + 1}`))
        server.send({ jsonrpc: '2.0', id: message.id, ...normalAnswer(message) })
        if (tells) server.send(CHANGED)
      }
      return message.method === 'tools/list' || isCall(message)
    }
  }

export const LISTS = {
  /** Noted once more, so that a test knows when it hangs. */
  'hangs-in-list': onMethod('tools/list', (_, { note }) => note(process.pid)),
  'many-tools': listed(() => Array.from({ length: 10_000 - TOOLS.length }, (_, index) => tool(`tool-${index}`))),
  'huge-schema': listed(() => [
    { ...tool('huge'), inputSchema: { type: 'object', description: 'x'.repeat(5_000_000) } },
    tool('small'),
  ]),
  'schema-bombs': schemaBombs,
  'no-input-schema': listed(() => [{ name: 'bare', description: 'Takes who knows what.' }]),
  'bad-names': listed(() =>
    ['', 'n'.repeat(300), 'two words/ümlaut', '../../etc', '__proto__'].map((name) => tool(name)),
  ),
  'malformed-tools': listed(() => [
    ...[null, 42, 'text', [], {}, { name: 5, inputSchema: { type: 'object' } }],
    { name: 'list-as-schema', inputSchema: [] },
    { name: 'text-as-schema', inputSchema: { type: 'string' } },
  ]),
  'same-tool-twice': listed(() => [tool('twice', 'The first.'), tool('twice', 'The second.')]),
  'changing-list': changing(true),
  'changing-list-silently': changing(false),
  'list-changed-flood': (server) => (message) => {
    const twenty = () => {
      for (let each = 0; each < 20; each++) server.send(CHANGED)
    }
    if (message.method === 'notifications/initialized') setInterval(twenty, 20)
    return false
  },
  'endless-pages': onMethod('tools/list', ({ id, params }, { answer }) => {
    const page = Number(params?.cursor ?? 0)
    answer(id, { tools: page === 0 ? TOOLS : [tool(`page-${page}`)], nextCursor: String(page + 1) })
  }),
} satisfies Record<string, Behaviour>
