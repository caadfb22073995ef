/** The command of a server, checked and with whole paths, once nothing in it is variable any more. */
import { isAbsolute, resolve, sep } from 'node:path'
import type { StdioTarget } from './server-config.ts'

/** `cwd` may be relative to the folder of the environment. */
export function stdioTarget(
  { command, args, env, cwd }: Omit<StdioTarget, 'kind' | 'given'>,
  folder: string,
): StdioTarget | string {
  if (command.trim() === '') return 'command must not be empty'
  if (Object.keys(env).some((name) => name === '' || /[=\0]/.test(name)))
    return 'env has a name that no variable can have'
  if ([command, cwd, ...args, ...Object.values(env)].some((text) => text.includes('\0'))) return 'has a NUL character'
  const where = resolve(folder, cwd)
  const found = isPath(command) ? resolve(where, command) : command
  return { kind: 'stdio', command: found, given: command, args, env, cwd: where }
}

/** Anything else is looked for in PATH. */
const isPath = (command: string) => isAbsolute(command) || command.includes('/') || command.includes(sep)
