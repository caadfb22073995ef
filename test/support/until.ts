// Waits for a fact: asks again and again, and says what it waited for when the fact does not come.
import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 10
const LONGEST_MS = 60_000

/** Resolves with the first answer that is neither false nor undefined. */
export async function until<Fact>(
  what: string,
  ask: () => Fact | undefined | false | Promise<Fact | undefined | false>,
  withinMs = LONGEST_MS,
): Promise<Fact> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const fact = await ask()
    if (fact !== undefined && fact !== false) return fact
    if (performance.now() > deadline) throw new Error(`after ${withinMs} ms still not: ${what}`)
    await delay(POLL_MS)
  }
}
