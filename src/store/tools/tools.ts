/** How tools are read: one, a page, and all of an environment for a run that starts. */
import type { ExpressionBuilder, Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Page, PageRequest } from '../../contract/page.ts'
import type { ToolRecord } from '../../contract/tool-record.ts'
import { contains } from '../contains.ts'
import { readJson } from '../json.ts'
import { prepare, VALUE } from '../prepared.ts'
import type { Tables } from '../schema.ts'

/** Characters of all texts whose meaning is kept together. */
const MOST_KEPT = 8 * 1024 * 1024

export interface ToolFilter {
  environment?: string | undefined
  server?: string | undefined
  /** Part of the name or the description, whatever the case. */
  q?: string | undefined
}

export interface StoredTool extends ToolRecord {
  /** What its server calls it. */
  own_name: string
}

export interface ToolReads {
  /** By id. */
  list(filter: ToolFilter, page: PageRequest): Promise<Page<ToolRecord>>
  find(id: number): Promise<StoredTool | undefined>
  /** By name. Asked at every start of a run: schemas and annotations are shared by all answers, and not to be changed. */
  ofEnvironment(environmentId: number): Promise<StoredTool[]>
}

export function createToolReads(db: Kysely<Tables>): ToolReads {
  const readKept = createKeptJson()
  const ofEnvironment = prepare(db, selected(db).where('t.environment_id', '=', VALUE).orderBy('t.name'))

  return {
    async list(filter, { page, limit }) {
      const rows = await selected(db)
        .where(matches(filter))
        .orderBy('t.id')
        .limit(limit)
        .offset((page - 1) * limit)
        .execute()
      return { items: rows.map((row) => toRecord(row)), total: await countTools(db, filter) }
    },

    async find(id) {
      const row = await selected(db).where('t.id', '=', id).executeTakeFirst()
      return row && toStoredTool(row)
    },

    ofEnvironment: async (environmentId) =>
      (await ofEnvironment(environmentId)).map((row) => toStoredTool(row, readKept)),
  }
}

/** Tools seldom change, and reading their schemas takes longer than everything else about them. */
function createKeptJson(): typeof readJson {
  const kept = new LRUCache<string, object>({
    maxSize: MOST_KEPT,
    sizeCalculation: (_value, text) => text.length + 100,
  })
  return (text) => {
    const known = kept.get(text)
    if (known) return known
    const value = readJson(text)
    kept.set(text, value)
    return value
  }
}

const joined = (db: Kysely<Tables>) =>
  db
    .selectFrom('tools as t')
    .innerJoin('mcp_servers as s', 's.id', 't.server_id')
    .innerJoin('environments as e', 'e.id', 't.environment_id')

const selected = (db: Kysely<Tables>) =>
  joined(db)
    .select(['t.id', 't.name', 't.own_name', 's.name as server', 'e.name as environment'])
    .select(['t.description', 't.input_schema', 't.annotations'])

type Expressions = ExpressionBuilder<
  { t: Tables['tools']; s: Tables['mcp_servers']; e: Tables['environments'] },
  't' | 's' | 'e'
>

const matches = (filter: ToolFilter) => (eb: Expressions) =>
  eb.and([
    ...(filter.environment === undefined ? [] : [eb('e.name', '=', filter.environment)]),
    ...(filter.server === undefined ? [] : [eb('s.name', '=', filter.server)]),
    ...(filter.q ? [eb.or([contains('t.name', filter.q), contains('t.description', filter.q)])] : []),
  ])

/** Environments carry the number of their tools, so that only the rarer filters have to count. */
async function countTools(db: Kysely<Tables>, filter: ToolFilter): Promise<number> {
  if (filter.server !== undefined || filter.q) {
    const query = joined(db).where(matches(filter))
    const { count } = await query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    return Number(count)
  }
  let query = db.selectFrom('environments').select(({ fn }) => fn.sum<number | null>('tools_count').as('count'))
  if (filter.environment !== undefined) query = query.where('name', '=', filter.environment)
  return Number((await query.executeTakeFirstOrThrow()).count ?? 0)
}

type JoinedRow = Awaited<ReturnType<ReturnType<typeof selected>['execute']>>[number]

const toRecord = (row: JoinedRow, read = readJson): ToolRecord => ({
  id: row.id,
  name: row.name,
  server: row.server,
  environment: row.environment,
  description: row.description,
  input_schema: read(row.input_schema),
  annotations: read(row.annotations),
})

const toStoredTool = (row: JoinedRow, read = readJson): StoredTool => ({
  ...toRecord(row, read),
  own_name: row.own_name,
})
