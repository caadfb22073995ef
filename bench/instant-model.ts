/** A model that answers at once: so many rounds with one tool call each, then a text. No network, no waiting. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'

export const ROUNDS = 10

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
}

export const instantModel: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'instant',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('only streams')),
  doStream: async ({ prompt }) => ({ stream: ReadableStream.from(partsOf(prompt)) }),
}

function partsOf(prompt: LanguageModelV4CallOptions['prompt']): LanguageModelV4StreamPart[] {
  const round = prompt.filter(({ role }) => role === 'assistant').length
  const start: LanguageModelV4StreamPart = { type: 'stream-start', warnings: [] }
  if (round < ROUNDS) {
    const toolCallId = `call-${round}`
    return [
      start,
      { type: 'tool-call', toolCallId, toolName: 'echo', input: `{"round":${round}}` },
      { type: 'finish', usage, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } },
    ]
  }
  return [
    start,
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Done.' },
    { type: 'text-end', id: '1' },
    { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } },
  ]
}
