/** Tells a database that cannot be used now (disk full, I/O error, locked) from a mistake in our own SQL. */
import { AppError } from '../../contract/errors.ts'

const BUSY = 5
/** SQLite's primary result codes: BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB. */
const STORAGE_CODES: ReadonlySet<number> = new Set([BUSY, 6, 7, 8, 10, 11, 13, 14, 15, 26])
/** What node:sqlite says of a handle that is closed. */
const CLOSED = 'ERR_INVALID_STATE'

export function isStorageFailure(error: unknown): boolean {
  if ((error as NodeJS.ErrnoException).code === CLOSED) return true
  const code = primaryCode(error)
  return code !== undefined && STORAGE_CODES.has(code)
}

/** Somebody else has the lock. */
export const isBusy = (error: unknown): boolean => primaryCode(error) === BUSY

const primaryCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined

export const storageUnavailable = (cause: unknown): AppError =>
  new AppError('STORAGE_UNAVAILABLE', 'the database cannot be used right now; try again in a moment', { cause })
