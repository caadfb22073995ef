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
  const lock = takeLock(folder, pidFile)
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    release() {
      try {
        rmSync(pidFile, { force: true })
      } catch {
        // Only a message for others: a folder that has become read-only is no reason to keep the lock.
      }
      lock.close()
    },
  }
}

function takeLock(folder: string, pidFile: string): DatabaseSync {
  const file = join(folder, 'agenthost.lock')
  let lock: DatabaseSync | undefined
  try {
    createPrivateFile(file)
    lock = new DatabaseSync(file, { timeout: 0 })
    // Nothing is ever written to it, so a full disk is no reason to fail here.
    lock.exec('PRAGMA journal_mode = MEMORY')
    lock.exec('BEGIN IMMEDIATE')
    // Without the right to write, SQLite takes a reader's lock in silence; this statement does not.
    lock.exec('PRAGMA user_version = 1')
    return lock
  } catch (error) {
    lock?.close()
    throw isBusy(error) ? folderInUse(folder, pidFile, error) : cannotLock(file, error)
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
