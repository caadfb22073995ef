/** The header by which a caller says that two requests are one. */
import { z } from 'zod'

export const IDEMPOTENCY_KEY = 'Idempotency-Key'

export const idempotencyKey = z
  .string()
  // Two headers arrive joined by a comma: which of them was meant, nobody knows.
  .regex(/^[\x20-\x2b\x2d-\x7e]{1,255}$/, 'must be sent once, as 1–255 printable ASCII characters without a comma')
  .meta({ description: 'The same key and body within 24 hours give the first answer again, and no second run.' })

/** What an answer says that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' }
