/**
 * Pages of runs. What an index serves in its order is read at once, and counters give its total; whatever may look
 * at many rows goes to the search. Long texts are cut inside the database, so that a page is never megabytes.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Page, PageRequest } from '../../contract/page.ts'
import type { Run } from '../../contract/run.ts'
import type { Tables } from '../schema.ts'
import type { Search } from '../search.ts'
import { environmentId, hasCounter, hasIndex, matches, type RunFilter } from './filter.ts'
import { SHORT_COLUMNS, toRun } from './record.ts'

const MOST_CHARACTERS = 4096
/** Variables above this size in all are left to the run's own record. */
const MOST_VARIABLES_BYTES = 16 * 1024
/** Skipping rows takes as long as reading them. */
const DEEP = 10_000

export type ListRuns = (filter: RunFilter, page: PageRequest) => Promise<Page<Run>>

export function createRunLists(db: Kysely<Tables>, search: Search): ListRuns {
  const columns = [...SHORT_COLUMNS, cut('task').as('task'), cut('result').as('result'), variables.as('variables')]
  const fits = (filter: RunFilter) => matches(filter, search.contains)

  async function counted(filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
    const total = await readCounter(db, filter)
    if (total <= offset(page)) return { items: [], total }
    const fitting = db
      .selectFrom('runs')
      .select(columns)
      .where(fits(withoutTheObvious(filter)))
    const query = fitting.orderBy('id', 'desc').limit(page.limit).offset(offset(page))
    const isQuick = hasIndex(filter) && offset(page) < DEEP
    const rows = isQuick ? await query.execute() : await search.execute(query.compile())
    return { items: rows.map(toRun), total }
  }

  /** Every row is looked at once: what fits is remembered by its id, counted, and cut into pages. */
  async function searched(filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
    const query = db
      .with((cte) => cte('found').materialized(), found(filter))
      .selectFrom('runs')
      .select(columns)
      .select((eb) => eb.selectFrom('found').select(eb.fn.countAll<number>().as('total')).as('total'))
      .where('id', 'in', (eb) =>
        eb.selectFrom('found').select('found.id').orderBy('found.id', 'desc').limit(page.limit).offset(offset(page)),
      )
      .orderBy('id', 'desc')
    const rows = await search.execute(query.compile())
    const total = rows.length > 0 || page.page === 1 ? rows[0]?.total : await countFound(filter)
    return { items: rows.map(toRun), total: Number(total ?? 0) }
  }

  const found = (filter: RunFilter) => () => db.selectFrom('runs').select('runs.id').where(fits(filter))

  /** For a page behind the last one, which has no row to tell the total. */
  async function countFound(filter: RunFilter): Promise<number | undefined> {
    const count = db
      .selectFrom('runs')
      .where(fits(filter))
      .select((eb) => eb.fn.countAll<number>().as('total'))
    return (await search.execute(count.compile()))[0]?.total
  }

  return (filter, page) => (hasCounter(filter) ? counted(filter, page) : searched(filter, page))
}

/** An agent lives in one environment: with runs in it, it is this one, and no index may be chosen because of it. */
const withoutTheObvious = (filter: RunFilter): RunFilter =>
  filter.agent_id === undefined ? filter : { ...filter, environment: undefined }

const offset = ({ page, limit }: PageRequest) => (page - 1) * limit

async function readCounter(db: Kysely<Tables>, { status, agent_id, environment }: RunFilter): Promise<number> {
  let query = db.selectFrom('run_counts').select(({ fn }) => fn.sum<number | null>('count').as('total'))
  if (agent_id !== undefined) query = query.where('agent_id', '=', agent_id)
  if (status !== undefined) query = query.where('status', '=', status)
  if (environment !== undefined) query = query.where('environment_id', '=', environmentId(environment))
  return Number((await query.executeTakeFirstOrThrow()).total ?? 0)
}

/** The size in bytes is known without reading the text. A NUL ends what substr sees, and shows as cut, not as whole. */
const cut = <Column extends 'task' | 'result'>(column: Column): RawBuilder<Tables['runs'][Column]> => {
  const [text, most] = [sql.ref(column), sql.lit(MOST_CHARACTERS)]
  return sql`CASE WHEN ${text} IS NULL OR octet_length(${text}) <= ${most} THEN ${text}
    WHEN substr(${text}, 1, ${most}) = ${text} THEN ${text} ELSE substr(${text}, 1, ${most}) || '…' END`
}

const variables = sql<string>`
  CASE WHEN octet_length(variables) <= ${sql.lit(MOST_VARIABLES_BYTES)} THEN variables ELSE '{}' END`
