/** How long to wait before the next attempt: what the provider asks for, and exponential back-off with full jitter. */
import { systemClock } from '../clock.ts'

export interface Backoff {
  /** The most that the first wait takes; it doubles from there. */
  base_ms: number
  /** No wait is longer, whatever the provider asks for. */
  cap_ms: number
}

export const USUAL_BACKOFF: Backoff = { base_ms: 500, cap_ms: 60_000 }

/** After this many attempts, counted from 1. Many that were refused together must not come back together. */
export function waitBefore(attempts: number, asked_ms: number, backoff: Backoff, random = Math.random): number {
  const { base_ms, cap_ms } = backoff
  return Math.min(cap_ms, asked_ms + random() * base_ms * 2 ** (attempts - 1))
}

/** `retry-after-ms`, or `Retry-After` in seconds or as a date: in milliseconds from now, 0 when nothing is asked for. */
export function retryAfter(headers: Readonly<Record<string, string>> | undefined, now = systemClock.now()): number {
  const exact = Number(headers?.['retry-after-ms'])
  if (exact >= 0) return exact
  const text = headers?.['retry-after']?.trim() ?? ''
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? ms : 0
}
