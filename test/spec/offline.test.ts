// The offline model, played through as the engine does: call after call, then the answer.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createModels } from '../../src/models/create.ts'
import type { ChatMessage, Turn } from '../../src/models/models.ts'
import { proves } from './proves.ts'

const models = createModels({ ai: { keys: {} } })
const tool = (name: string) => ({ name, description: '', input_schema: { type: 'object' } })
const TOOLS = [tool('add'), tool('add-on'), tool('files__read')]

const prompt = (task: string): ChatMessage[] => [
  { role: 'system', content: 'You are Ada.' },
  { role: 'user', content: task },
]

const ask = (messages: ChatMessage[], signal = new AbortController().signal) =>
  models.turn({ model: models.nameFor(null), messages, tools: TOOLS, signal })

/** Every turn of a run; the tools answer with what they were given. */
async function play(task: string): Promise<Turn[]> {
  const messages = prompt(task)
  const turns: Turn[] = []
  for (;;) {
    const turn = await ask(messages)
    turns.push(turn)
    if (turn.calls.length === 0) return turns
    messages.push({ role: 'assistant', content: turn.content })
    const results = turn.calls.map(({ id, name, input }) => ({
      ...{ call_id: id, name, text: JSON.stringify(input), is_error: name === 'broken' },
    }))
    messages.push({ role: 'tool', results })
  }
}

const callsOf = (turns: Turn[]) => turns.flatMap((turn) => turn.calls.map(({ name, input }) => [name, input]))

describe('call lines', () => {
  proves('offline.call-lines', 'each is that tool call, one turn each, in order', async () => {
    const turns = await play('Please:\ncall add {"a": 1}\n  call unknown\r\nand then\ncall add {"b": {"c": [2]}}')
    expect(turns).toHaveLength(4)
    expect(callsOf(turns)).toEqual([
      ['add', { a: 1 }],
      ['unknown', {}],
      ['add', { b: { c: [2] } }],
    ])
    expect(turns.map(({ finish }) => finish)).toEqual(['tool-calls', 'tool-calls', 'tool-calls', 'stop'])
    expect(new Set(turns.flatMap(({ calls }) => calls.map(({ id }) => id))).size).toBe(3)
  })

  proves('offline.call-lines', 'a line whose arguments are not a JSON object is plain text', async () => {
    for (const line of [
      'call sum {"a": 1',
      'call sum [1]',
      'call sum 5',
      'call me when you are done',
      'Call sum {}',
      'call',
    ]) {
      expect(callsOf(await play(line))).toEqual([])
    }
  })

  test('the turn it is follows from the conversation alone, so a run that continues goes on where it was', async () => {
    const turns = await play('call add {"a": 1}\ncall add {"a": 2}')
    const [first] = turns
    const messages: ChatMessage[] = [
      ...prompt('call add {"a": 1}\ncall add {"a": 2}'),
      { role: 'assistant', content: first?.content ?? null },
      { role: 'tool', results: [{ call_id: 'call-1', name: 'add', text: '{"a":1}', is_error: false }] },
    ]
    expect(await ask(messages)).toEqual(turns[1])
  })
})

describe('a named tool', () => {
  proves(
    'offline.named-tool',
    'without call lines the first tool whose name occurs as a word is called once',
    async () => {
      expect(callsOf(await play('First files__read, then add.'))).toEqual([['add', {}]])
      expect(callsOf(await play('Use "files__read"!'))).toEqual([['files__read', {}]])
      expect(callsOf(await play('Use the add-on'))).toEqual([['add-on', {}]])
      for (const none of ['the address', 'readd', 'ADD', 'files__reader', 'überadd', '']) {
        expect(callsOf(await play(`${none} please`))).toEqual([])
      }
    },
  )

  proves('offline.named-tool', 'with call lines nothing else is called', async () => {
    expect(callsOf(await play('add\ncall files__read'))).toEqual([['files__read', {}]])
  })
})

describe('the final answer', () => {
  proves('offline.answer', 'quotes the results of the tools', async () => {
    const last = (await play('call add {"a": 1}\ncall broken')).at(-1)
    expect(last?.text).toBe('add: {"a":1}\nbroken failed: {}')
    expect(last?.content).toEqual([{ type: 'text', text: last?.text }])
  })

  proves('offline.answer', 'quotes the prompt and the task when no tool was called', async () => {
    expect((await play('Say hello\nand goodbye')).at(-1)?.text).toBe(
      'Prompt: You are Ada.\nTask: Say hello\nand goodbye',
    )
    expect((await ask([{ role: 'user', content: 'Hi' }])).text).toBe('Task: Hi')
  })

  proves('offline.answer', 'is the same every time, with tokens by estimate and no cost', async () => {
    const task = 'call add {"a": 1}'
    expect(await play(task)).toEqual(await play(task))
    const [turn] = await play('Hi')
    expect(turn).toMatchObject({ usage: { input_tokens: 4, output_tokens: 15 }, cost_usd: 0, attempts: 1 })
  })

  test('any task has one, after at most as many calls as it has lines', async () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('call add', 'call add {}', 'call add {"a":', 'sleep 0', 'add'))
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        const turns = await play(lines.join('\n'))
        expect(turns.length - 1).toBeLessThanOrEqual(Math.max(1, lines.length))
        expect(JSON.parse(JSON.stringify(turns))).toStrictEqual(turns)
      }),
    )
  })
})

describe('sleep lines', () => {
  const timed = async (messages: ChatMessage[]) => {
    const started = performance.now()
    const turn = await ask(messages)
    return { turn, ms: performance.now() - started }
  }

  proves(
    'offline.sleep',
    'make the turn of the next call take that long, added up, and the final turn after the last',
    async () => {
      const messages = prompt('sleep 100\nsleep 100\ncall add\ncall add\nsleep 80')
      const taken: number[] = []
      for (let turn = 0; turn < 3; turn++) {
        const { turn: said, ms } = await timed(messages)
        taken.push(ms)
        messages.push({ role: 'assistant', content: said.content })
      }
      // Timers may fire a millisecond early.
      expect(taken[0]).toBeGreaterThan(198)
      expect(taken[1]).toBeLessThan(100)
      expect(taken[2]).toBeGreaterThan(78)
    },
  )

  proves('offline.sleep', 'without calls they make the only turn take that long', async () => {
    expect((await timed(prompt('Hi\nsleep 50'))).ms).toBeGreaterThan(48)
  })

  proves('offline.sleep', 'a cancelled run does not sleep on', async () => {
    const abort = new AbortController()
    const reason = new Error('cancelled')
    const turn = ask(prompt('sleep 99999999999'), abort.signal)
    turn.catch(() => {})
    abort.abort(reason)
    await expect(turn).rejects.toBe(reason)
  })
})

test('whoever stays offline loads nothing of the SDK', async () => {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { loaded.push(name); return next(name, context) } })
    const { createModels } = await import('./src/models/create.ts')
    const models = createModels({ ai: { keys: {} } })
    const signal = new AbortController().signal
    await models.turn({ model: models.nameFor(null), messages: [{ role: 'user', content: 'Hi' }], tools: [], signal })
    console.log(JSON.stringify(loaded.filter((name) => !name.startsWith('.'))))`
  const root = new URL('../..', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root })
  expect(JSON.parse(stdout).filter((name: string) => !name.startsWith('node:'))).toEqual([])
})
