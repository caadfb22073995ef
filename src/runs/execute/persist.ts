/** Holds on to a write while the database cannot be used: what was done must not be forgotten because of a full disk. */
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000

export async function persist<Value>(write: () => Promise<Value>, giveUp: () => boolean): Promise<Value> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write()
    } catch (error) {
      if (!isOutage(error) || giveUp()) throw error
      await sleep(pause)
    }
  }
}

export const isOutage = (error: unknown): boolean => error instanceof AppError && error.code === 'STORAGE_UNAVAILABLE'
