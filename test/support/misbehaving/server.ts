// A tool server that is normal in everything but one fault. Raw JSON-RPC over stdio, so that nothing stops it from
// misbehaving.
//
//   node server.ts <fault> [--pids <file>] [--seconds <number>]
//
// faults.ts says what each fault is. It ends with its input, and in any case before long.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { Behaviour, Running } from './behaviour.ts'
import type { Fault } from './faults.ts'
import { CALLS } from './faulty-calls.ts'
import { LISTS } from './faulty-lists.ts'
import { LIVES } from './faulty-lives.ts'
import { type Message, normalAnswer } from './protocol.ts'

const LONGEST_LIFE_MS = 600_000
const BEHAVIOURS: Record<Fault, Behaviour> = { ...LIVES, ...CALLS, ...LISTS }

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { pids: { type: 'string' }, seconds: { type: 'string', default: '2' } },
})
const behaviour = BEHAVIOURS[positionals[0] as Fault]
if (!behaviour) throw new Error(`there is no fault ${positionals[0]}`)

const server: Running = {
  send: (message) => server.write(`${JSON.stringify(message)}\n`),
  answer: (id, result) => server.send({ jsonrpc: '2.0', id, result }),
  write: (text) => void process.stdout.write(text),
  end: () => process.exit(0),
  note: (pid) => values.pids && appendFileSync(values.pids, `${pid}\n`),
  seconds: Number(values.seconds),
}

server.note(process.pid)
setTimeout(() => process.exit(99), LONGEST_LIFE_MS).unref()
const hear = await behaviour(server)
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message: Message = JSON.parse(line)
    if (hear(message) || message.id === undefined || message.method === undefined) return
    server.send({ jsonrpc: '2.0', id: message.id, ...normalAnswer(message) })
  })
  .on('close', () => server.end())
