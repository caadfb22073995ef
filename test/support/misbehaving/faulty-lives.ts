// Faults of a process: how it starts, what it starts, and how it does not end.
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Behaviour, liveOn, onMethod, type Running } from './behaviour.ts'

const normal = () => false

/** Not only what it was given, but all that could be a secret. */
export const everythingSecret = () => JSON.stringify({ env: process.env, args: process.argv })

/** Ends by itself before it could bother anybody. What is ignored stays ignored in the program that takes over. */
function leaveGrandchild(server: Running, detached: boolean): void {
  const child = spawn('sh', ['-c', 'trap "" TERM; exec sleep 600'], { stdio: 'inherit', detached })
  child.unref()
  server.note(child.pid)
}

export const LIVES = {
  'exits-at-start': () => process.exit(1),
  'exits-loudly': () => {
    for (let line = 1; line <= 100; line++) process.stderr.write(`line ${line}: something is wrong here\n`)
    process.exit(3)
  },
  'leaks-and-exits': () => {
    process.stderr.write(`cannot start with ${everythingSecret()}\n`)
    process.exit(1)
  },
  'silent-at-start': () => () => true,
  'refuses-at-start': onMethod('initialize', ({ id }, { send }) =>
    send({ jsonrpc: '2.0', id, error: { code: -32602, message: 'not with you' } }),
  ),
  'starts-late': async ({ seconds }) => {
    await sleep(seconds * 1000)
    return normal
  },
  stubborn: (server) => {
    process.stderr.on('error', () => {})
    process.on('SIGTERM', () => process.stderr.write('SIGTERM? No.\n'))
    server.end = () => {
      liveOn()
      process.stderr.write('The end? No.\n')
    }
    return normal
  },
  'grandchildren-in-group': (server) => {
    leaveGrandchild(server, false)
    leaveGrandchild(server, false)
    return normal
  },
  'grandchild-in-session': (server) => {
    leaveGrandchild(server, true)
    return normal
  },
} satisfies Record<string, Behaviour>
