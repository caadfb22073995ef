/** How environments are read. */
import type { Kysely } from 'kysely'
import type { Environment } from '../contract/environment.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import { isoTime } from '../contract/time.ts'
import type { EnvironmentRow, Tables } from './schema.ts'

export interface EnvironmentReads {
  find(name: string): Promise<Environment | undefined>
  findById(id: number): Promise<Environment | undefined>
  list(page: PageRequest): Promise<Page<Environment>>
}

export function createEnvironmentReads(db: Kysely<Tables>): EnvironmentReads {
  const all = () => db.selectFrom('environments').selectAll()
  const one = (row: EnvironmentRow | undefined) => row && toEnvironment(row)

  return {
    find: async (name) => one(await all().where('name', '=', name).executeTakeFirst()),
    findById: async (id) => one(await all().where('id', '=', id).executeTakeFirst()),

    async list({ page, limit }) {
      const rows = await all()
        .orderBy('id')
        .limit(limit)
        .offset((page - 1) * limit)
        .execute()
      const total = await db.selectFrom('environments').select(db.fn.countAll<number>().as('count')).executeTakeFirst()
      return { items: rows.map(toEnvironment), total: Number(total?.count ?? 0) }
    },
  }
}

const toEnvironment = (row: EnvironmentRow): Environment => ({
  ...row,
  id: String(row.id),
  last_sync: row.last_sync === null ? null : JSON.parse(row.last_sync),
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})
