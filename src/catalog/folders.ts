/**
 * The environments folder: one folder for each environment, its agents' prompt files below it.
 * Nothing outside is ever read or written: names are checked, and what a symbolic link points at must lie inside.
 */
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { environmentName } from '../contract/environment.ts'
import { MAX_PROMPT_FILE_BYTES } from './prompt-file/text.ts'

export const PROMPT_SUFFIX = '.prompt'

/** A prompt file as found: its text, or why it could not be read. */
export type FoundPrompt = { file: string; text: string } | { file: string; error: string }

export interface Folders {
  /** Names of folders that are environments; others are passed over. */
  environments(): Promise<string[]>
  has(environment: string): Promise<boolean>
  prompts(environment: string): Promise<FoundPrompt[]>
  /** Undefined when there is no such file. */
  readPrompt(environment: string, file: string): Promise<FoundPrompt | undefined>
  /** Replaces the file in one step: a reader, or a crash, sees the old text or the new. */
  writePrompt(environment: string, file: string, text: string): Promise<void>
  removePrompt(environment: string, file: string): Promise<void>
}

export function createFolders(root: string): Folders {
  const agentsFolder = (environment: string) => join(root, environment, 'agents')
  const promptPath = (environment: string, file: string) => join(agentsFolder(environment), file)

  const read = async (environment: string, file: string): Promise<FoundPrompt> => {
    try {
      return { file, text: await readBounded(await inside(root, promptPath(environment, file))) }
    } catch (error) {
      return { file, error: reason(error as NodeJS.ErrnoException) }
    }
  }

  return {
    async environments() {
      const entries = await orNothing(readdir(root), [])
      const checked = await Promise.all(entries.map(async (name) => ((await this.has(name)) ? [name] : [])))
      return checked.flat().sort()
    },

    async has(environment) {
      if (!environmentName.safeParse(environment).success) return false
      const path = await orNothing(inside(root, join(root, environment)), undefined)
      return path !== undefined && (await orNothing(readdir(path), undefined)) !== undefined
    },

    async prompts(environment) {
      const entries = await orNothing(readdir(agentsFolder(environment)), [])
      const files = entries.filter((file) => file.endsWith(PROMPT_SUFFIX) && !file.startsWith('.')).sort()
      return Promise.all(files.map((file) => read(environment, file)))
    },

    async readPrompt(environment, file) {
      const isThere = await orNothing(lstat(promptPath(environment, file)), undefined)
      return isThere && read(environment, file)
    },

    async writePrompt(environment, file, text) {
      const path = promptPath(environment, file)
      await mkdir(dirname(path), { recursive: true })
      // A prompt file that is a link inside the folder stays one: its target is what gets the new text.
      await replace(await orNothing(inside(root, path), path), text)
    },

    async removePrompt(environment, file) {
      await rm(promptPath(environment, file), { force: true })
    },
  }
}

async function inside(root: string, path: string): Promise<string> {
  const [realRoot, real] = await Promise.all([realpath(root), realpath(path)])
  if (!real.startsWith(realRoot + sep)) throw new Error('leads out of the environments folder')
  return real
}

async function readBounded(path: string): Promise<string> {
  // Without waiting: opening a named pipe would block until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new Error('is not a file')
    if (stat.size > MAX_PROMPT_FILE_BYTES) throw new Error(`is larger than ${MAX_PROMPT_FILE_BYTES / 1024} KiB`)
    return decoded(await handle.readFile())
  } finally {
    await handle.close()
  }
}

function decoded(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  if (text.includes('\0')) throw new Error('has a NUL character')
  return text
}

async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`
  try {
    await writeDurably(draft, text)
    await rename(draft, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w', 0o644)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

const ERRNO_WORDS: Record<string, string> = {
  ENOENT: 'leads nowhere',
  ELOOP: 'leads in a circle',
  EACCES: 'cannot be read: permission denied',
}

/** The system's own messages carry whole paths, which are nobody's business outside. */
function reason(error: NodeJS.ErrnoException): string {
  if (error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text'
  return error.code ? (ERRNO_WORDS[error.code] ?? `cannot be read: ${error.code}`) : error.message
}

const orNothing = <Value, Nothing>(attempt: Promise<Value>, nothing: Nothing): Promise<Value | Nothing> =>
  attempt.catch(() => nothing)
