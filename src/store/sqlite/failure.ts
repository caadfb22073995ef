/** Tells a database that cannot be used now (disk full, I/O error, locked) from a mistake in our own SQL. */
import { AppError } from '../../contract/errors.ts'

/** SQLite's primary result codes: BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const STORAGE_CODES: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26])

export function isStorageFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  return STORAGE_CODES.has(Number(error.errcode) & 0xff)
}

export const storageUnavailable = (cause: unknown): AppError =>
  new AppError('STORAGE_UNAVAILABLE', 'the database cannot be used right now; try again in a moment', { cause })
