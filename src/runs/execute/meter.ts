/** Measures how long a run has been executing, over all its attempts, and says when that is too long. */
import type { Clock } from '../../clock.ts'

export interface Meter {
  consumed(): number
  /** Stands still while the run waits for a slot. */
  pause(): void
  resume(): void
}

interface MeterParts {
  clock: Clock
  /** By earlier attempts. */
  consumed_ms: number
  limit_ms: number
  onLimit(): void
}

/** Runs from the first moment on; `pause` it for good when the run is over. */
export function startMeter({ clock, consumed_ms, limit_ms, onLimit }: MeterParts): Meter {
  let before = consumed_ms
  let since: number | undefined
  let timer: NodeJS.Timeout | undefined

  const consumed = () => Math.round(before + (since === undefined ? 0 : clock.elapsed() - since))
  const resume = () => {
    if (since !== undefined) return
    since = clock.elapsed()
    timer = setTimeout(onLimit, Math.max(0, limit_ms - before))
  }
  const pause = () => {
    before = consumed()
    since = undefined
    clearTimeout(timer)
  }
  resume()
  return { consumed, pause, resume }
}
