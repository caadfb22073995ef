/** Where reads go that may take long: somewhere they keep nobody else waiting. */
import type { CompiledQuery, RawBuilder } from 'kysely'

export interface Search {
  /** Rejects with STORAGE_UNAVAILABLE when the database cannot be used, or when too many wait already. */
  execute<Row>(query: CompiledQuery<Row>): Promise<Row[]>
  /** Whether a column has this text in it, whatever the case, in the words that this database is quick with. */
  contains(column: string, text: string): RawBuilder<boolean>
}
