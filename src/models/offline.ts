/** The offline model: the same answer every time, without a key and without a network, for demos and rehearsals. */
import type { Json } from '../contract/tool.ts'
import type { ChatMessage, Turn, TurnCall, TurnRequest } from './models.ts'
import { readScript } from './offline-script.ts'
import { pause } from './pause.ts'

/** About what models make of English text. */
const CHARACTERS_PER_TOKEN = 4

export async function offlineTurn({ messages, tools, signal }: TurnRequest): Promise<Turn> {
  const script = readScript(textOf('user', messages), tools)
  const turn = messages.filter((message) => message.role === 'assistant').length
  const next = script.calls[turn]
  await pause(next ? next.sleep_ms : script.final_sleep_ms, signal)
  const read = messages.reduce((sum, message) => sum + sizeOf(message), 0)
  if (!next) return reply(answer(messages), [], read)
  return reply('', [{ id: `call-${turn + 1}`, name: next.name, input: next.input }], read)
}

/** What the tools answered, or, when none was called, what was asked. */
function answer(messages: readonly ChatMessage[]): string {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.results : []))
  if (results.length > 0) {
    return results.map(({ name, text, is_error }) => `${name}${is_error ? ' failed' : ''}: ${text}`).join('\n')
  }
  const prompt = textOf('system', messages)
  return `${prompt === '' ? '' : `Prompt: ${prompt}\n`}Task: ${textOf('user', messages)}`
}

function reply(text: string, calls: TurnCall[], read: number): Turn {
  const content: Json[] = [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input })),
  ]
  return {
    ...{ content, text, calls },
    finish: calls.length > 0 ? 'tool-calls' : 'stop',
    usage: { input_tokens: tokens(read), output_tokens: tokens(JSON.stringify(content).length) },
    cost_usd: 0,
    attempts: 1,
  }
}

function textOf(role: 'system' | 'user', messages: readonly ChatMessage[]): string {
  return messages.flatMap((message) => (message.role === role ? [message.content] : [])).join('\n')
}

function sizeOf(message: ChatMessage): number {
  if (message.role === 'tool')
    return message.results.reduce((sum, { name, text }) => sum + name.length + text.length, 0)
  return typeof message.content === 'string' ? message.content.length : JSON.stringify(message.content).length
}

const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN)
