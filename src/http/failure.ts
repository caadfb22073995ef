/** What every door does with a failure before it puts it into its own words. */
import { AppError, type ErrorCode } from '../contract/errors.ts'
import type { Log } from '../telemetry/log.ts'
import type { HeaderValues } from './answer.ts'

/** Seconds after which another try makes sense. */
const RETRY_AFTER: Partial<Record<ErrorCode, string>> = {
  STORAGE_UNAVAILABLE: '1',
  AUTH_UNAVAILABLE: '1',
  QUEUE_FULL: '5',
}

/** What is not one of our refusals shows nothing of itself; the log has it under the id of the request. */
export function knownFailure(error: unknown, log: Log, requestId: string): AppError {
  const known =
    error instanceof AppError ? error : new AppError('INTERNAL_ERROR', 'The request failed', { cause: error })
  if (known.status >= 500) log.error({ err: known.cause ?? known, request_id: requestId }, known.message)
  return known
}

export function failureHeaders({ code, status }: AppError): HeaderValues {
  const retryAfter = RETRY_AFTER[code]
  return {
    ...(retryAfter ? { 'Retry-After': retryAfter } : {}),
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  }
}
