/** Runs as the doors see them: read, waited for, watched, cancelled. */
import type { Clock } from '../clock.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import type { Run, RunDetail } from '../contract/run.ts'
import { runNotFound } from '../store/runs/claim-write.ts'
import type { RunChanges, RunFilter } from '../store/runs/reads.ts'
import type { Store } from '../store/store.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Feed } from './watch.ts'

export interface Runs {
  list(filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  get(id: number): Promise<RunDetail>
  /** The run when it has ended, or after this many seconds as it is then. */
  wait(id: number, seconds: number, signal: AbortSignal): Promise<RunDetail>
  /** Resolves once the request is on disk. */
  cancel(id: number): Promise<void>
  /** What is new after a place in the journal, again and again until the run has ended; an empty round is a sign of life. */
  watch(id: number, after: number, signal: AbortSignal): AsyncGenerator<RunChanges>
}

interface RunsParts {
  store: Store
  dispatch: Pick<Dispatcher, 'cancel'>
  feed: Feed
  clock: Clock
}

const SIGN_OF_LIFE_MS = 15_000
/** The feed gives hints only; whoever waits looks for himself now and then. */
const LOOK_AGAIN_MS = 5000

export function createRuns({ store, dispatch, feed, clock }: RunsParts): Runs {
  const get = async (id: number): Promise<RunDetail> => {
    const run = await store.runs.detail(id)
    if (!run) throw runNotFound(id)
    return run
  }
  const changes = async (id: number, after: number): Promise<RunChanges> => {
    const found = await store.runs.changes(id, after)
    if (!found) throw runNotFound(id)
    return found
  }

  async function untilEnded(id: number, seconds: number, signal: AbortSignal): Promise<void> {
    const deadline = clock.elapsed() + seconds * 1000
    for (let left = seconds * 1000; left > 0 && !signal.aborted && !feed.closed; left = deadline - clock.elapsed()) {
      // Asked for before reading: an end between the two must not be slept through.
      const hint = feed.nextEnd(id, Math.min(left, LOOK_AGAIN_MS), signal)
      const run = await store.runs.find(id)
      if (!run) throw runNotFound(id)
      if (run.status !== 'running') return
      await hint
    }
  }

  async function* changesOf(id: number, after: number, signal: AbortSignal): AsyncGenerator<RunChanges> {
    for (let seq = after; ; ) {
      const hint = feed.nextChange(id, SIGN_OF_LIFE_MS, signal)
      const news = await changes(id, seq)
      seq = Math.max(seq, news.seq)
      yield news
      if (news.run.status !== 'running' || signal.aborted || feed.closed) return
      await hint
    }
  }

  return {
    list: (filter, page) => store.runs.list(filter, page),
    get,
    async wait(id, seconds, signal) {
      const over = new AbortController()
      await untilEnded(id, seconds, AbortSignal.any([signal, over.signal])).finally(() => over.abort())
      return get(id)
    },
    async cancel(id) {
      await store.write('requestCancel', { id, at: clock.now() })
      feed.changed(id)
      dispatch.cancel(id)
    },
    async *watch(id, after, signal) {
      const over = new AbortController()
      try {
        yield* changesOf(id, after, AbortSignal.any([signal, over.signal]))
      } finally {
        // Whoever stops listening leaves no timer and no hook behind.
        over.abort()
      }
    },
  }
}
