/** The one key of the webhook: compared exactly, in a time that tells nothing about it, and never shown. */
import { hash, timingSafeEqual } from 'node:crypto'

/** Whether an Authorization header is `Bearer` (in any case), one space, and exactly the key. */
export type WebhookKey = (authorization: string | undefined) => boolean

const SCHEME = 'bearer '

export function createWebhookKey(key: string): WebhookKey {
  const expected = digest(Buffer.from(key))
  return (authorization) => {
    if (authorization?.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return false
    // Headers arrive as bytes, one character each.
    return timingSafeEqual(digest(Buffer.from(authorization.slice(SCHEME.length), 'latin1')), expected)
  }
}

/** Of equal length whatever is sent, so that even the length of the key stays ours. */
const digest = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer')
