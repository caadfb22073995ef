/** Why a command could not be started, in words that say what to change in the file. */
import { stat } from 'node:fs/promises'
import type { StdioTarget } from '../../servers/server-config.ts'
import { ServerFailure } from '../connection.ts'

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'may not be executed',
  ENOEXEC: 'is not a program that this machine can run',
  E2BIG: 'has too many or too long arguments and variables',
  EAGAIN: 'could not be started: this machine has too many processes',
  ENOMEM: 'could not be started: this machine has too little memory',
  EMFILE: 'could not be started: too many files are open',
  ENFILE: 'could not be started: too many files are open',
}

export async function spawnFailure(error: unknown, { given: command, cwd }: StdioTarget): Promise<ServerFailure> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // A missing folder is reported as if the command were missing.
  if (!(await isFolder(cwd)))
    return new ServerFailure('unreachable', 'the folder that it is to run in (cwd) does not exist')
  if (code === 'ENOENT')
    return new ServerFailure('unreachable', `the command '${command}' was not found${hint(command)}`)
  const reason = REASONS[code] ?? `could not be started${code && ` (${code})`}`
  return new ServerFailure('unreachable', `the command '${command}' ${reason}`)
}

function hint(command: string): string {
  if (command.startsWith('~')) return '; ~ is not expanded'
  return /\s/.test(command) ? '; its arguments belong into args' : ''
}

const isFolder = (path: string) =>
  stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
