/** Whether a column has a text in it, whatever the case, in words that every database knows. For tables of some thousands. */
import { type RawBuilder, sql } from 'kysely'

export function contains(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql`lower(${sql.ref(column)}) LIKE ${pattern} ESCAPE '\\'`
}
