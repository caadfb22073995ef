/** Every way the service says no: a closed list of codes, each with the HTTP status that goes with it. */
export const ERROR_STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPE: 403,
  AGENT_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  ENVIRONMENT_NOT_FOUND: 404,
  KEY_NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  AGENT_EXISTS: 409,
  RUN_ALREADY_FINISHED: 409,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  QUEUE_FULL: 429,
  INTERNAL_ERROR: 500,
  STORAGE_UNAVAILABLE: 503,
  AUTH_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** One thing wrong with an input: where (a JSON Pointer) and what. */
export interface ErrorDetail {
  path: string
  message: string
}

/**
 * The only error class. Its message is written for the caller and may leave the process;
 * anything that may not goes into `cause`, which only the log sees.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]

  constructor(code: ErrorCode, message: string, more: { details?: readonly ErrorDetail[]; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.name = 'AppError'
    this.code = code
    this.details = more.details ?? []
  }

  get status(): (typeof ERROR_STATUS)[ErrorCode] {
    return ERROR_STATUS[this.code]
  }
}
