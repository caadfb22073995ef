// Where the machine keeps the programs that the tests drive: Chromium, PostgreSQL, curl, strace.
// The set-up step and the tests ask the same functions, so they cannot disagree.
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const MAC_CHROMES = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function onPath(...names: string[]): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return names.flatMap((name) => folders.map((folder) => join(folder, name)))
}

function versionFolders(): string[] {
  try {
    return readdirSync(DEBIAN_POSTGRES).sort((a, b) => Number(b) - Number(a))
  } catch {
    return []
  }
}

export function findChromium(): string | undefined {
  return [...onPath('chromium', 'chromium-browser', 'google-chrome'), ...MAC_CHROMES].find(isExecutable)
}

/** Debian keeps server programs off the PATH, a folder for each version: the newest wins. */
export function findPostgresBin(): string | undefined {
  const folders = versionFolders().map((version) => join(DEBIAN_POSTGRES, version, 'bin'))
  const initdb = [...folders.map((folder) => join(folder, 'initdb')), ...onPath('initdb')].find(isExecutable)
  return initdb?.slice(0, -'/initdb'.length)
}

export function findCurl(): string | undefined {
  return onPath('curl').find(isExecutable)
}

export function findStrace(): string | undefined {
  return onPath('strace').find(isExecutable)
}

function required(path: string | undefined, name: string): string {
  if (!path) throw new Error(`${name} is not on this machine: run \`npm run setup\``)
  return path
}

export const chromiumPath = () => required(findChromium(), 'Chromium')
export const postgresBin = () => required(findPostgresBin(), 'PostgreSQL (initdb)')
export const stracePath = () => required(findStrace(), 'strace')
