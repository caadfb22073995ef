/** One streamed call of the AI SDK, watched from the first byte to the last. */
import { type StepResult, streamText, type TextStreamPart, type ToolSet } from 'ai'
import { type Answer, toAnswer } from './answer.ts'
import { toMessages, toTools } from './conversation.ts'
import type { Endpoint } from './endpoints.ts'
import type { TurnRequest } from './models.ts'
import { Trouble } from './trouble.ts'
import { createWatch, type Patience, type Watch } from './watch.ts'
import { watching } from './wire.ts'

// Otherwise the SDK prints warnings of providers on stderr, between the lines of the log.
globalThis.AI_SDK_LOG_WARNINGS = false

type Step = StepResult<ToolSet>

/** Rejects with what went wrong, or with the signal's reason, as soon as it is known; the request is then aborted. */
export async function attempt(request: TurnRequest, endpoint: Endpoint, patience: Patience): Promise<Answer> {
  const stop = new AbortController()
  const given = Promise.withResolvers<never>()
  const giveUp = (reason: unknown) => {
    stop.abort(reason)
    given.reject(reason)
  }
  const abort = () => giveUp(request.signal.reason)
  const watch = createWatch(patience, giveUp)
  request.signal.addEventListener('abort', abort, { once: true })
  try {
    return toAnswer(
      await Promise.race([listen(request, endpoint, { watch, giveUp, signal: stop.signal }), given.promise]),
    )
  } finally {
    request.signal.removeEventListener('abort', abort)
    watch.end()
  }
}

interface Listening {
  watch: Watch
  giveUp: (reason: unknown) => void
  signal: AbortSignal
}

/** Its result promises stay untouched: each of them would reject on its own. */
async function listen(request: TurnRequest, endpoint: Endpoint, { watch, giveUp, signal }: Listening): Promise<Step> {
  let step: Step | undefined
  const call = watching.run(watch, () =>
    streamText({
      model: endpoint.model,
      messages: toMessages(request.messages),
      allowSystemInMessages: true,
      ...(request.tools.length > 0 && { tools: toTools(request.tools) }),
      ...(endpoint.options && { providerOptions: endpoint.options }),
      maxRetries: 0,
      abortSignal: signal,
      telemetry: { isEnabled: false },
      onStepEnd: (ended) => {
        step = ended
      },
      onError: ({ error }) => giveUp(error),
    }),
  )
  // Leaving this loop early would wait for the SDK's copy of the stream for ever; giving up ends it from within.
  for await (const part of call.stream) watch.understood(charactersIn(part))
  if (step === undefined) throw new Trouble('broke off before the end of its answer', { again: true })
  return step
}

function charactersIn(part: TextStreamPart<ToolSet>): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return part.text.length
  if (part.type === 'tool-input-delta') return part.delta.length
  if (part.type === 'tool-input-start') return part.toolName.length + part.id.length
  return part.type === 'tool-call' ? part.toolName.length + part.toolCallId.length : 0
}
