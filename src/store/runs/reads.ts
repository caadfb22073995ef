/** How runs are read: one with its steps, what changed since, a page of many, and what waits to be executed. */
import { type Kysely, sql } from 'kysely'
import type { Page, PageRequest } from '../../contract/page.ts'
import type { Run, RunDetail } from '../../contract/run.ts'
import type { Tables } from '../schema.ts'
import type { Search } from '../search.ts'
import type { RequestKey, StoredAnswer } from './accept-write.ts'
import type { RunFilter } from './filter.ts'
import { createRunLists } from './lists.ts'
import { SHORT_COLUMNS, TEXT_COLUMNS, toRun } from './record.ts'
import { type JournalledStep, readJournal, readSteps } from './steps.ts'

export type { RunFilter }

export interface RunChanges {
  run: Run
  /** The run's place in its journal: the highest sequence there is. */
  seq: number
  /** In the order of the journal. */
  steps: JournalledStep[]
}

export interface WaitingRun {
  id: number
  agent_id: number
  /** Somebody was executing it already. */
  interrupted: boolean
}

export interface RunReads {
  find(id: number): Promise<Run | undefined>
  detail(id: number): Promise<RunDetail | undefined>
  /** The steps written after a place in the journal; all of them after 0. */
  changes(id: number, after: number): Promise<RunChanges | undefined>
  /**
   * Newest first. Tasks and results are cut after 4,096 characters, variables over 16 KiB are left out.
   * What may look at many rows (source, since, until, q, an environment with a status, pages behind the
   * ten-thousandth run) is searched for, and keeps nobody else waiting.
   */
  list(filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** Runs that nobody executes, with an id above `after`, by id. */
  waiting(after: number, limit: number): Promise<WaitingRun[]>
  answerTo(key: Omit<RequestKey, 'body_hash'>): Promise<StoredAnswer | undefined>
}

export function createRunReads(db: Kysely<Tables>, search: Search): RunReads {
  const row = (id: number) =>
    db
      .selectFrom('runs')
      .select([...SHORT_COLUMNS, ...TEXT_COLUMNS, 'journal_seq'])
      .where('id', '=', id)
      .executeTakeFirst()
  const find = async (id: number) => {
    const found = await row(id)
    return found && toRun(found)
  }

  return {
    find,
    list: createRunLists(db, search),

    // The run before its steps: what is read second is as new as what is read first, or newer.
    async detail(id) {
      const run = await find(id)
      return run && { ...run, steps: await readSteps(db, id) }
    },

    async changes(id, after) {
      const found = await row(id)
      if (!found) return undefined
      // Steps that were written since the row was read come with the next call, and only then.
      const seq = found.journal_seq
      return { run: toRun(found), seq, steps: await readJournal(db, id, after, seq) }
    },

    async waiting(after, limit) {
      const queued = db.selectFrom(inPhase('queued', after, limit).as('queued')).selectAll()
      const recovering = db.selectFrom(inPhase('recovering', after, limit).as('recovering')).selectAll()
      // One statement, one moment: a run that changes its phase meanwhile is told once.
      const rows = await queued.unionAll(recovering).execute()
      const byId = rows.toSorted((a, b) => a.id - b.id).slice(0, limit)
      return byId.map(({ id, agent_id, phase }) => ({ id, agent_id, interrupted: phase === 'recovering' }))
    },

    answerTo({ principal, route, key }) {
      return db
        .selectFrom('idempotency_keys')
        .select(['body_hash', 'response', 'created_at'])
        .where('principal', '=', principal)
        .where('route', '=', route)
        .where('key', '=', key)
        .executeTakeFirst()
    },
  }

  /** Written out, not as values: only then SQLite sees that the index of unfinished runs has them all. */
  function inPhase(phase: 'queued' | 'recovering', after: number, limit: number) {
    const running = db.selectFrom('runs').where('status', '=', sql.lit('running')).where('phase', '=', sql.lit(phase))
    return running.select(['id', 'agent_id', 'phase']).where('id', '>', after).orderBy('id').limit(limit)
  }
}
