/** What differs between the databases in the words of CREATE TABLE; everything else is common SQL. */
export interface Dialect {
  /** A key that counts up and is never used again, even after a delete. */
  identity: string
  /** Whole numbers up to 2^53: ids, counts, milliseconds. */
  integer: string
}

export const SQLITE: Dialect = { identity: 'INTEGER PRIMARY KEY AUTOINCREMENT', integer: 'INTEGER' }
