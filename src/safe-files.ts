/** Files that other people may have made: read with bounds, replaced in one step, never outside a root. */
import { constants } from 'node:fs'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'

/** The real path, provided that it lies below the root, whatever links lead to it. */
export async function inside(root: string, path: string): Promise<string> {
  const [realRoot, real] = await Promise.all([realpath(root), realpath(path)])
  if (!real.startsWith(realRoot + sep)) throw new Error('leads out of its folder')
  return real
}

export async function readBounded(path: string, maxBytes: number): Promise<string> {
  // Without waiting: opening a named pipe would block until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new Error('is not a file')
    if (found.size > maxBytes) throw new Error(`is larger than ${maxBytes / 1024} KiB`)
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

/**
 * Replaces a file in one step, keeping its mode: a reader, or a crash, sees the old text or the new.
 * The draft has one name for each file, so that what a crash leaves is written over by the next change.
 */
export async function replace(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.draft`)
  try {
    await writeDurably(draft, text, (await stat(path)).mode & 0o777)
    await rename(draft, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function writeDurably(path: string, text: string, mode: number): Promise<void> {
  const handle = await open(path, 'w', mode)
  try {
    await handle.chmod(mode)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a rename or a removal outlast a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

const ERRNO_WORDS: Record<string, string> = {
  ENOENT: 'leads nowhere',
  ELOOP: 'leads in a circle',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  EISDIR: 'is not a file',
  ERR_FS_EISDIR: 'is not a file',
  ENOTDIR: 'is not a folder',
}

/** The system's own messages carry whole paths, which are nobody's business outside. */
export function reason(error: NodeJS.ErrnoException): string {
  if (error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text'
  return error.code ? (ERRNO_WORDS[error.code] ?? error.code) : error.message
}
