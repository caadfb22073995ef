/** A file of an environment as found: its text, or why it could not be read, without a path of this machine. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { inside, readBounded, reason } from '../../safe-files.ts'

export type ReadFile =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly error: string; readonly isMissing: boolean }

const MAX_BYTES = 1024 * 1024
const BYTE_ORDER_MARK = /^\uFEFF/

/** `file` is a path below the root. */
export async function readFileBelow(root: string, file: string): Promise<ReadFile> {
  const path = join(root, file)
  try {
    const text = await readBounded(await inside(root, path), MAX_BYTES)
    return { file, text: text.replace(BYTE_ORDER_MARK, '') }
  } catch (error) {
    return { file, error: reason(error as NodeJS.ErrnoException), isMissing: !(await isThere(path)) }
  }
}

/** A link that leads nowhere is there. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}
