/** A conversation from the journal in the form that the AI SDK takes, and tools that it describes but never calls. */
import { jsonSchema, type ModelMessage, type ToolSet } from 'ai'
import type { ChatMessage, ToolDescription, ToolResultMessage } from './models.ts'

/** Not every provider takes instructions in between, so they come first. */
export function toMessages(messages: readonly ChatMessage[]): ModelMessage[] {
  const isInstruction = (message: ChatMessage) => message.role === 'system'
  const ordered = [...messages.filter(isInstruction), ...messages.filter((message) => !isInstruction(message))]
  return ordered.map(toMessage)
}

function toMessage(message: ChatMessage): ModelMessage {
  if (message.role === 'tool') return { role: 'tool', content: message.results.map(toResult) }
  // What an assistant said came from the SDK and is given back as it was.
  return message as ModelMessage
}

function toResult({ call_id, name, text, is_error }: ToolResultMessage['results'][number]) {
  return {
    type: 'tool-result' as const,
    toolCallId: call_id,
    toolName: name,
    output: { type: is_error ? ('error-text' as const) : ('text' as const), value: text },
  }
}

export function toTools(tools: readonly ToolDescription[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, input_schema }) => [name, { description, inputSchema: jsonSchema(input_schema) }]),
  )
}
