/**
 * One process per data folder. The lock is SQLite's own lock on a file of its own, so the operating system
 * holds it and lets go of it however the process ends; the pid beside it only serves the message.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EXIT } from '../../contract/exit-codes.ts'
import { StartError } from '../../contract/start-error.ts'

export interface FolderLock {
  release(): void
}

export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'agenthost.pid')
  const lock = new DatabaseSync(join(folder, 'agenthost.lock'), { timeout: 0 })
  try {
    lock.exec('BEGIN IMMEDIATE')
  } catch (error) {
    lock.close()
    throw folderInUse(folder, pidFile, error)
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    release() {
      rmSync(pidFile, { force: true })
      lock.close()
    },
  }
}

function folderInUse(folder: string, pidFile: string, cause: unknown): StartError {
  return new StartError(
    `the data folder ${folder} is in use by process ${readPid(pidFile)}. ` +
      'Stop that process, or start this one with another folder (--home or SVC_HOME).',
    EXIT.notFoundConflictOrInUse,
    cause,
  )
}

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim()
  } catch {
    return '(pid unknown)'
  }
}
