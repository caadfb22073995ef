/** The header by which a caller says that two requests are one. */
import { z } from 'zod'

export const IDEMPOTENCY_KEY = 'Idempotency-Key'

const JOINT = ', '

export const idempotencyKey = z
  .string()
  .transform(onceOnly)
  .pipe(z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1–255 printable ASCII characters'))
  .meta({ description: 'The same key and body within 24 hours give the first answer again, and no second run.' })

/** A proxy that sends a header twice means one: the two arrive joined by a comma. */
function onceOnly(key: string): string {
  const half = (key.length - JOINT.length) / 2
  return key.slice(0, half) + JOINT + key.slice(0, half) === key ? key.slice(0, half) : key
}

/** What an answer says that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' }
