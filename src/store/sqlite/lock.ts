/**
 * One process per data folder. The lock is SQLite's own lock on a file of its own, so the operating system
 * holds it and lets go of it however the process ends; the pid beside it only serves the message.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EXIT } from '../../contract/exit-codes.ts'
import { StartError } from '../../contract/start-error.ts'
import { createPrivateFile } from './connection.ts'
import { isBusy } from './failure.ts'

export interface FolderLock {
  release(): void
}

export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'agenthost.pid')
  const lockFile = join(folder, 'agenthost.lock')
  createPrivateFile(lockFile)
  const lock = new DatabaseSync(lockFile, { timeout: 0 })
  try {
    // Nothing is ever written to it, so a full disk is no reason to fail here.
    lock.exec('PRAGMA journal_mode = MEMORY')
    lock.exec('BEGIN IMMEDIATE')
  } catch (error) {
    lock.close()
    throw isBusy(error) ? folderInUse(folder, pidFile, error) : cannotLock(lockFile, error)
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    release() {
      rmSync(pidFile, { force: true })
      lock.close()
    },
  }
}

const cannotLock = (file: string, cause: unknown) =>
  new StartError(`the lock ${file} cannot be used: ${(cause as Error).message}`, EXIT.failure, cause)

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
