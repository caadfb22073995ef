/** The header by which a caller says that two requests are one. */
import { z } from 'zod'

export const IDEMPOTENCY_KEY = 'Idempotency-Key'

export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1–255 printable ASCII characters')
  .meta({ description: 'The same key and body within 24 hours give the first answer again, and no second run.' })

/** What an answer says that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' }
