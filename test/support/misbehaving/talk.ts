// Talks to a misbehaving server line by line, and remembers everything that came back, sense or not.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { until } from '../until.ts'
import { type Fault, type MisbehavingOptions, misbehaving } from './faults.ts'
import { readPids } from './pids.ts'
import type { Message } from './protocol.ts'

export interface Talk extends AsyncDisposable {
  /** Asks, and waits for the first message under that id. */
  ask(method: string, params?: object): Promise<Message>
  /** Asks and waits for nothing; returns the id. */
  send(method: string, params?: object): number
  tell(method: string, params?: object): void
  reply(id: Message['id'], body: object): void
  /** Everything under this id so far. */
  heard(id: Message['id']): Message[]
  /** The part of a line that has not ended. */
  half(): string
  readonly messages: Message[]
  /** Lines that are no JSON objects. */
  readonly rubbish: string[]
  readonly received: { bytes: number; errorBytes: number; errorText: string }
  readonly child: ReturnType<typeof spawn>
  /** The server, and what it has started. */
  pids(): number[]
  ended(): Promise<number | string>
}

export async function talkTo(fault: Fault, options: MisbehavingOptions = {}): Promise<Talk> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'pids')
  const { command, args } = misbehaving(fault, { ...options, pids: file })
  const child = spawn(command, args, { detached: true, env: { ...process.env, LOOSE_SECRET: 'loose-lips-4711' } })
  const exit = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? '')),
  )
  child.stdin.on('error', () => {})
  const memory = remember(child)
  let lastId = 0
  const write = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const heard = (id: Message['id']) => memory.messages.filter((message) => message.id === id)
  const send = (method: string, params: object = {}) => {
    write({ id: ++lastId, method, params })
    return lastId
  }
  return {
    ...{ ...memory, child, heard, send },
    tell: (method, params = {}) => write({ method, params }),
    reply: (id, body) => write({ id, ...body }),
    ask: (method, params) => {
      const id = send(method, params)
      return until(`an answer to ${method}`, () => heard(id)[0], 20_000)
    },
    pids: () => readPids(file),
    ended: () => exit,
    async [Symbol.asyncDispose]() {
      for (const pid of readPids(file).filter(isAlive)) process.kill(pid, 'SIGKILL')
      child.kill('SIGKILL')
      await exit
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      await folder.remove()
    },
  }
}

function remember({ stdout, stderr }: { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }) {
  const received = { bytes: 0, errorBytes: 0, errorText: '' }
  const messages: Message[] = []
  const rubbish: string[] = []
  let line: Buffer[] = []
  stdout.on('data', (chunk: Buffer) => {
    received.bytes += chunk.length
    const [first, ...others] = splitLines(chunk)
    line.push(first)
    for (const other of others) {
      keep(Buffer.concat(line).toString(), messages, rubbish)
      line = [other]
    }
  })
  stderr.on('data', (chunk: Buffer) => {
    received.errorBytes += chunk.length
    received.errorText = (received.errorText + chunk.toString()).slice(-20_000)
  })
  return { messages, rubbish, received, half: () => Buffer.concat(line).toString() }
}

function splitLines(chunk: Buffer): [Buffer, ...Buffer[]] {
  const end = chunk.indexOf(10)
  return end < 0 ? [chunk] : [chunk.subarray(0, end), ...splitLines(chunk.subarray(end + 1))]
}

function keep(text: string, messages: Message[], rubbish: string[]): void {
  try {
    const value = JSON.parse(text)
    if (value?.jsonrpc === '2.0') messages.push(value)
    else rubbish.push(text)
  } catch {
    rubbish.push(text)
  }
}

/** The process group of a process; Linux only. */
export const groupOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2])
