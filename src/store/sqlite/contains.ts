/**
 * Text inside a column, whatever the case. SQLite's own LIKE knows the cases of ASCII only, but is many times faster
 * than a call of ours for each row: so it decides alone where it can, and sifts where it cannot.
 */
import { type RawBuilder, sql } from 'kysely'

export function contains(column: string, text: string): RawBuilder<boolean> {
  const wanted = text.toLowerCase()
  const exact = like(sql`lower(${sql.ref(column)})`, escaped(wanted))
  // The one letter (İ) that becomes two when it is lowered: no sieve has its length.
  if (wanted.includes('i\u0307')) return exact
  const sieve = like(
    sql.ref(column),
    escaped(text).replaceAll(BEYOND_ASCII, (letter) => (hasCase(letter) ? '_' : letter)),
  )
  const isEnough = ![...text.matchAll(BEYOND_ASCII)].some(([letter]) => hasCase(letter))
  return isEnough ? sieve : sql`(${sieve} AND ${exact})`
}

const BEYOND_ASCII = /\P{ASCII}/gu

const hasCase = (letter: string) => letter.toLowerCase() !== letter.toUpperCase()

const like = (text: RawBuilder<unknown>, pattern: string): RawBuilder<boolean> =>
  sql`${text} LIKE ${`%${pattern}%`} ESCAPE '\\'`

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')
