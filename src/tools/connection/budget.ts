/** The time that connecting may take in all, however many steps it has. */
import { notConnectedWithin, ServerFailure } from './connection.ts'

export interface Budget {
  /** Aborts when the time is over or nobody wants the connection any more; its reason is a ServerFailure. */
  readonly signal: AbortSignal
  end(): void
}

export function startBudget(ms: number, wanted: AbortSignal): Budget {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(notConnectedWithin(ms)), ms)
  const giveUp = () => abort.abort(new ServerFailure('unreachable', 'connecting was given up'))
  if (wanted.aborted) giveUp()
  wanted.addEventListener('abort', giveUp, { once: true })
  return {
    signal: abort.signal,
    end() {
      clearTimeout(timer)
      wanted.removeEventListener('abort', giveUp)
    },
  }
}
