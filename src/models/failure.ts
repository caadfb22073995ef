/** What an error of an attempt means: whether to try again, how long the provider wants us to wait, and the words. */
import { AISDKError, APICallError } from '@ai-sdk/provider'
import { StreamProviderError } from 'ai'
import { retryAfter } from './backoff.ts'
import type { Endpoint } from './endpoints.ts'
import { Trouble } from './trouble.ts'

export interface Failure {
  again: boolean
  /** Continues the sentence that begins with the provider. */
  what: string
  advice?: string | undefined
  /** The provider's own words. */
  detail?: string | undefined
  /** How long it asked us to wait. */
  asked_ms?: number
}

/** The request itself cannot be made; no other attempt would go better. */
const HOPELESS = new Set([
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_LoadAPIKeyError',
  'AI_MissingToolResultsError',
  'AI_NoSuchModelError',
  'AI_UnsupportedFunctionalityError',
])

/** The stream ended in good order, but before the end of the answer. */
const CUT = new Set(['AI_InvalidResponseDataError', 'AI_NoOutputGeneratedError'])

export function readFailure(error: unknown, endpoint: Endpoint): Failure {
  if (error instanceof Trouble) {
    return { again: error.again, what: error.message, advice: error.advice, detail: error.detail }
  }
  const detail = messageOf(error)
  if (APICallError.isInstance(error)) return { ...ofCall(error, endpoint), detail }
  if (StreamProviderError.isInstance(error)) return { ...ofStream(error, endpoint), detail }
  if (!AISDKError.isInstance(error)) return { again: true, what: 'hung up', detail }
  if (HOPELESS.has(error.name)) return { again: false, what: 'cannot take this conversation', detail }
  if (CUT.has(error.name)) return { again: true, what: 'broke off before the end of its answer', detail }
  return { again: true, what: 'gave an answer that cannot be read', detail }
}

function ofCall({ statusCode, responseHeaders, responseBody, isRetryable }: APICallError, endpoint: Endpoint): Failure {
  if (statusCode === undefined) {
    return { again: true, what: 'could not be reached', advice: 'check the network and the address' }
  }
  // What began as a success did not stay one.
  if (statusCode < 300) return { again: true, what: 'broke off before the end of its answer' }
  if (responseBody?.includes('insufficient_quota')) {
    return { again: false, what: `has no quota left for us (${statusCode})`, advice: 'check the plan of the account' }
  }
  return { ...wordsFor(statusCode, endpoint), again: isRetryable, asked_ms: retryAfter(responseHeaders) }
}

/** An error that comes as an event of the stream. */
function ofStream({ statusCode, isRetryable }: StreamProviderError, endpoint: Endpoint): Failure {
  if (statusCode === undefined) return { again: true, what: 'reported an error instead of an answer' }
  return { ...wordsFor(statusCode, endpoint), again: isRetryable }
}

function wordsFor(status: number, endpoint: Endpoint): Pick<Failure, 'what' | 'advice'> {
  const { model_name, key_variable, has_key } = endpoint
  const words = (what: string, advice?: string) => ({ what: `${what} (${status})`, advice })
  if (status < 400) return words('redirects to another address', 'set SVC_AI_BASE_URL to that address')
  if (status === 401) {
    return has_key ? words('refused the key', `check ${key_variable}`) : words('wants a key', `set ${key_variable}`)
  }
  if (status === 403) return words('denied access', `check what the key in ${key_variable} may do`)
  if (status === 404) return words(`does not know ${model_name}`, 'check the name of the model')
  if (status === 429) return words('had no room for us', 'try again later, or raise the limits of the account')
  return status < 500 ? words('refused the request') : words('failed', 'try again later')
}

function messageOf(error: unknown): string | undefined {
  if (APICallError.isInstance(error) && error.data === undefined) {
    return error.responseBody?.trim() || messageOf(error.cause) || error.message
  }
  if (!(error instanceof Error)) return typeof error === 'string' ? error : undefined
  // Several addresses that all refuse are one error without words of its own.
  return error.message || ('code' in error ? String(error.code) : error.name)
}
