/** Waiting that ends at once, with the signal's reason, when nobody wants the result any more. */
import { setTimeout as delay } from 'node:timers/promises'

/** More than a timer can hold would fire at once. */
const LONGEST_MS = 2 ** 31 - 1

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (ms <= 0) return
  try {
    await delay(Math.min(ms, LONGEST_MS), undefined, { signal })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}
