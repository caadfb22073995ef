/** Which folder is the home: --home, SVC_HOME, the nearest marked parent folder, or the user's data folder. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'

export type Env = Readonly<Record<string, string | undefined>>

export const CONFIG_FILE = 'config.yaml'
export const LARGEST_FILE = 1024 * 1024

// A line, not parsed YAML: a marked file with a mistake elsewhere is still the home, and the mistake gets reported.
const MARKER = /^(['"]?)agenthost\1:[ \t]+1[ \t]*(#.*)?$/m

export function findHome(given: { flag?: string | undefined; env: Env; cwd: string }): string {
  const named = given.flag || given.env.SVC_HOME
  if (named) return resolve(given.cwd, named)
  return markedParent(resolve(given.cwd)) ?? dataFolder(given.env)
}

function markedParent(folder: string): string | undefined {
  if (isMarked(join(folder, CONFIG_FILE))) return folder
  const parent = dirname(folder)
  return parent === folder ? undefined : markedParent(parent)
}

function isMarked(file: string): boolean {
  try {
    const found = statSync(file)
    return found.isFile() && found.size <= LARGEST_FILE && MARKER.test(readFileSync(file, 'utf8').replaceAll('\r', ''))
  } catch {
    return false
  }
}

function dataFolder(env: Env): string {
  const base = env.XDG_DATA_HOME
  // The XDG specification: a relative path there is to be ignored.
  if (base && isAbsolute(base)) return join(base, 'agenthost')
  return join(env.HOME || homedir(), '.local', 'share', 'agenthost')
}
