/** How agents are read: one, a page, the versions of one, and what a name may mean. */
import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { Agent } from '../contract/agent.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import { isoTime } from '../contract/time.ts'
import { createAgentLookUp, type FiledAgent } from './agent-look-up.ts'
import { contains } from './contains.ts'
import type { Tables } from './schema.ts'

export interface AgentFilter {
  environment?: string | undefined
  enabled?: boolean | undefined
  /** Part of the name or the description, whatever the case. */
  q?: string | undefined
}

export interface AgentReads {
  find(id: number): Promise<FiledAgent | undefined>
  list(filter: AgentFilter, page: PageRequest): Promise<Page<Agent>>
  /** Every agent with exactly this name, in one environment or in all. */
  named(name: string, environment?: string): Promise<Agent[]>
  ofEnvironment(environmentId: number): Promise<FiledAgent[]>
  versions(id: number, page: PageRequest): Promise<Page<Agent>>
  version(id: number, version: number): Promise<Agent | undefined>
}

export function createAgentReads(db: Kysely<Tables>): AgentReads {
  const versions = () => selected(db)
  const present = () => versions().where(isPresent)
  const lookUp = createAgentLookUp(db, async ({ id, version }) => {
    const row = await versions().where('a.id', '=', id).where('v.version', '=', version).executeTakeFirstOrThrow()
    return toAgent(row)
  })

  return {
    find: lookUp.byId,
    named: lookUp.byName,

    async list(filter, page) {
      const matching = present().where(matches(filter))
      const rows = await matching.orderBy('a.id').limit(page.limit).offset(offset(page)).execute()
      return { items: rows.map(toAgent), total: await countAgents(db, filter) }
    },

    async ofEnvironment(environmentId) {
      const rows = await present().where('a.environment_id', '=', environmentId).orderBy('a.id').execute()
      return rows.map(toFiledAgent)
    },

    async versions(id, page) {
      const all = versions().where('a.id', '=', id)
      const rows = await all.orderBy('v.version', 'desc').limit(page.limit).offset(offset(page)).execute()
      const newest = await db.selectFrom('agents').select('version').where('id', '=', id).executeTakeFirst()
      return { items: rows.map(toAgent), total: newest?.version ?? 0 }
    },

    async version(id, version) {
      const row = await versions().where('a.id', '=', id).where('v.version', '=', version).executeTakeFirst()
      return row && toAgent(row)
    },
  }
}

const offset = ({ page, limit }: PageRequest) => (page - 1) * limit

const joined = (db: Kysely<Tables>) =>
  db
    .selectFrom('agents as a')
    .innerJoin('agent_versions as v', 'v.agent_id', 'a.id')
    .innerJoin('environments as e', 'e.id', 'a.environment_id')

const COLUMNS = [
  ...(['a.id', 'a.environment_id', 'a.source', 'a.file', 'a.created_at', 'e.name as environment'] as const),
  ...(['v.version', 'v.name', 'v.description', 'v.model', 'v.tools', 'v.notify', 'v.enabled'] as const),
  ...(['v.max_steps', 'v.timeout_seconds', 'v.max_concurrency', 'v.variables', 'v.prompt'] as const),
  'v.created_at as updated_at' as const,
]

type Expressions = ExpressionBuilder<
  { a: Tables['agents']; v: Tables['agent_versions']; e: Tables['environments'] },
  'a' | 'v' | 'e'
>

const isPresent = (eb: Expressions) =>
  eb.and([eb('v.version', '=', eb.ref('a.version')), eb('a.removed_at', 'is', null)])

const matches = (filter: AgentFilter) => (eb: Expressions) =>
  eb.and([
    ...(filter.environment === undefined ? [] : [eb('e.name', '=', filter.environment)]),
    ...(filter.enabled === undefined ? [] : [isEnabled(filter.enabled)]),
    ...(filter.q ? [eb.or([contains('v.name', filter.q), contains('v.description', filter.q)])] : []),
  ])

/** The plus keeps SQLite from starting with all versions there ever were. */
const isEnabled = (enabled: boolean) => sql<boolean>`+${sql.ref('v.enabled')} = ${Number(enabled)}`

/** Environments carry the number of their agents, so that only the rarer filters have to count. */
async function countAgents(db: Kysely<Tables>, filter: AgentFilter): Promise<number> {
  if (filter.enabled !== undefined || filter.q) {
    const query = joined(db).where(isPresent).where(matches(filter))
    const { count } = await query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    return Number(count)
  }
  let query = db.selectFrom('environments').select(({ fn }) => fn.sum<number | null>('agents_count').as('count'))
  if (filter.environment !== undefined) query = query.where('name', '=', filter.environment)
  return Number((await query.executeTakeFirstOrThrow()).count ?? 0)
}

type JoinedRow = Awaited<ReturnType<ReturnType<typeof selected>['execute']>>[number]
const selected = (db: Kysely<Tables>) => joined(db).select(COLUMNS)

const toFiledAgent = (row: JoinedRow): FiledAgent => ({ agent: toAgent(row), file: row.file })

const toAgent = (row: JoinedRow): Agent => ({
  id: row.id,
  name: row.name,
  description: row.description,
  prompt: row.prompt,
  environment_id: String(row.environment_id),
  environment: row.environment,
  model: row.model,
  tools: row.tools === null ? null : JSON.parse(row.tools),
  notify: row.notify === 1,
  enabled: row.enabled === 1,
  max_steps: row.max_steps,
  timeout_seconds: row.timeout_seconds,
  max_concurrency: row.max_concurrency,
  variables: JSON.parse(row.variables),
  version: row.version,
  source: row.source,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})
