/**
 * The environments folder: one folder for each environment, its agents' prompt files below it.
 * Nothing outside is ever read or written: names are checked, and what a symbolic link points at must lie inside.
 */
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { environmentName } from '../contract/environment.ts'
import { AppError } from '../contract/errors.ts'
import { inside, readBounded, reason, replace, syncFolder } from '../safe-files.ts'
import { MAX_PROMPT_FILE_BYTES } from './prompt-file/text.ts'

export const PROMPT_SUFFIX = '.prompt'

/** A prompt file as found: its text, or why it could not be read. */
export type FoundPrompt = { file: string; text: string } | { file: string; error: string }

export interface Folders {
  /** Names of folders that are environments; others are passed over. */
  environments(): Promise<string[]>
  has(environment: string): Promise<boolean>
  /** Every prompt file, or why they cannot be listed; a folder that is not there has none. */
  prompts(environment: string): Promise<FoundPrompt[] | { error: string }>
  /** Undefined when there is no such file. */
  readPrompt(environment: string, file: string): Promise<FoundPrompt | undefined>
  /** Replaces the file in one step: a reader, or a crash, sees the old text or the new. */
  writePrompt(environment: string, file: string, text: string): Promise<void>
  removePrompt(environment: string, file: string): Promise<void>
}

/** Files are read a few at a time: a process may not have thousands of them open. */
const READ_TOGETHER = 32

export function createFolders(root: string): Folders {
  const agentsFolder = (environment: string) => join(root, environment, 'agents')
  const promptPath = (environment: string, file: string) => join(agentsFolder(environment), file)

  const read = async (environment: string, file: string): Promise<FoundPrompt> => {
    try {
      return { file, text: await readBounded(await inside(root, promptPath(environment, file)), MAX_PROMPT_FILE_BYTES) }
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
      const files = await promptFiles(agentsFolder(environment))
      if ('error' in files) return files
      const found: FoundPrompt[] = []
      for (let start = 0; start < files.length; start += READ_TOGETHER) {
        const together = files.slice(start, start + READ_TOGETHER)
        found.push(...(await Promise.all(together.map((file) => read(environment, file)))))
      }
      return found
    },

    async readPrompt(environment, file) {
      const isThere = await orNothing(lstat(promptPath(environment, file)), undefined)
      return isThere && read(environment, file)
    },

    async writePrompt(environment, file, text) {
      try {
        // A prompt file that is a link inside the folder stays one: its target is what gets the new text.
        await replace(await inside(root, promptPath(environment, file)), text)
      } catch (error) {
        throw cannotChange(file, error as NodeJS.ErrnoException)
      }
    },

    async removePrompt(environment, file) {
      try {
        const folder = await inside(root, agentsFolder(environment))
        await rm(join(folder, file), { force: true })
        await syncFolder(folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw cannotChange(file, error as Error)
      }
    },
  }
}

async function promptFiles(folder: string): Promise<string[] | { error: string }> {
  try {
    const entries = await readdir(folder)
    return entries.filter((file) => file.endsWith(PROMPT_SUFFIX) && !file.startsWith('.')).sort()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : { error: reason(error as Error) }
  }
}

const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

function cannotChange(file: string, cause: NodeJS.ErrnoException): AppError {
  if (NO_ROOM.has(cause.code)) {
    return new AppError('STORAGE_UNAVAILABLE', `the prompt file ${file} cannot be written now; try again`, { cause })
  }
  return new AppError('CONFLICT', `The prompt file ${file} cannot be changed: ${reason(cause)}`, { cause })
}

const orNothing = <Value, Nothing>(attempt: Promise<Value>, nothing: Nothing): Promise<Value | Nothing> =>
  attempt.catch(() => nothing)
