// Faults in a call: no answer, too much of an answer, or none that anybody could understand.
import { closeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Behaviour, isCall, liveOn, onFault, type Running } from './behaviour.ts'
import { everythingSecret } from './faulty-lives.ts'
import { isCallOf, type Message, says, TOOLS } from './protocol.ts'

const MEGABYTE = 'x'.repeat(1_000_000)

const answerWith = (make: () => unknown) => onFault(({ id }, { answer }) => answer(id, make()))

/** Every line after some rubbish, and in two pieces that arrive one after the other. */
function inPieces(server: Running): void {
  const { write } = server
  let before = Promise.resolve()
  server.write = (line) => {
    before = before.then(async () => {
      write('Loading plugins ... done\n\n{"jsonrpc":"2.0","id":\n]]]\n')
      write(line.slice(0, line.length / 2))
      await sleep(5)
      write(line.slice(line.length / 2))
    })
  }
}

/** Never more than the reader takes, so that it is not this process that bursts. */
function writeForEver(): void {
  process.stdout.write(MEGABYTE, writeForEver)
}

function complain(megabytes: number, done: () => void): void {
  if (megabytes === 0) done()
  else process.stderr.write(MEGABYTE, () => complain(megabytes - 1, done))
}

function askTheClient(server: Running) {
  const questions = ['sampling/createMessage', 'roots/list', 'ping']
  const replies: Message[] = []
  let call: Message['id']
  return (message: Message) => {
    if (isCallOf('fault', message)) {
      call = message.id
      for (const method of questions) server.send({ jsonrpc: '2.0', id: `ask-${method}`, method, params: {} })
      return true
    }
    if (message.method !== undefined) return false
    replies.push(message)
    if (replies.length === questions.length) server.answer(call, says(JSON.stringify(replies)))
    return true
  }
}

function leak(message: Message, server: Running): boolean {
  const { id, method, params } = message
  const secret = everythingSecret()
  if (method === 'tools/list') {
    server.answer(id, { tools: TOOLS.map((entry) => ({ ...entry, description: secret })) })
    return true
  }
  if (!isCallOf('fault', message)) return false
  const where = params?.arguments?.where
  if (where === 'error') server.answer(id, says(secret, true))
  else if (where === 'protocol-error') server.send({ jsonrpc: '2.0', id, error: { code: -32000, message: secret } })
  else if (where === 'stderr') process.stderr.write(`${secret}\n`, () => process.exit(1))
  else server.answer(id, says(secret))
  return true
}

export const CALLS = {
  'exits-in-call': onFault(() => process.exit(1)),
  'crashes-every-second-call': () => {
    let calls = 0
    return (message) => {
      if (isCall(message) && ++calls % 2 === 0) process.exit(1)
      return false
    }
  },
  'hangs-in-call': onFault(() => {}),
  'slow-answer': onFault(async ({ id }, { write }) => {
    for (const character of `${JSON.stringify({ jsonrpc: '2.0', id, result: says('slow') })}\n`) {
      write(character)
      await sleep(1000)
    }
  }),
  garbage: (server) => {
    inPieces(server)
    return () => false
  },
  'invalid-utf8': onFault(({ id }) => {
    const [before = '', after = ''] = JSON.stringify({ jsonrpc: '2.0', id, result: says('bad|bytes') }).split('|')
    process.stdout.write(
      Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from(`${after}\n`)]),
    )
  }),
  'no-json-rpc': onFault(({ id }, { write }) => {
    for (const value of [{ id, answer: 'fault' }, { id, result: says('no version') }, [], null, 42, 'text', true]) {
      write(`${JSON.stringify(value)}\n`)
    }
  }),
  'wrong-id': onFault(({ id }, { answer }) => answer(Number(id) + 1_000_000, says('for somebody else'))),
  'same-id-twice': onFault(({ id }, { answer }) => {
    answer(id, says('first'))
    answer(id, says('second'))
  }),
  'answers-after-cancel': (server) => (message) => {
    if (message.method === 'notifications/cancelled') server.answer(message.params?.requestId, says('too late'))
    return isCallOf('fault', message)
  },
  'large-answer': answerWith(() => says('x'.repeat(9_900_000))),
  'too-large-answer': answerWith(() => says('x'.repeat(11_000_000))),
  'endless-output': onFault(writeForEver),
  'stderr-flood': onFault(({ id }, { answer }) => {
    complain(100, () => answer(id, says('fault')))
  }),
  'closes-stdin': onFault(() => {
    process.stdin.destroy()
    closeSync(0)
    liveOn()
  }),
  deaf: onFault(() => {
    process.stdin.pause()
    liveOn()
  }),
  'error-result': answerWith(() => says('it cannot be done', true)),
  'result-no-object': answerWith(() => 'just a text'),
  'huge-error': onFault(({ id }, { send }) => send({ jsonrpc: '2.0', id, error: { code: -32000, message: MEGABYTE } })),
  'asks-the-client': askTheClient,
  'log-flood': onFault(({ id }, { answer, send }) => {
    for (let data = 0; data < 10_000; data++) {
      send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })
    }
    answer(id, says('fault'))
  }),
  'leaks-secrets': (server) => (message) => leak(message, server),
} satisfies Record<string, Behaviour>
