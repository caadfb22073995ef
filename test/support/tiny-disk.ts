// A disk so small that a test can fill it: a tmpfs of its own, unmounted whatever happens.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './temporary-folder.ts'

export interface TinyDisk extends AsyncDisposable {
  readonly path: string
  /** Deletes the ballast, so that there is room again. */
  dropBallast(): Promise<void>
}

const execute = promisify(execFile)

export async function mountTinyDisk(sizeKb: number, ballastKb: number): Promise<TinyDisk> {
  const folder = await temporaryFolder()
  const path = join(folder.path, 'disk')
  const ballast = join(path, 'ballast')
  try {
    await mkdir(path)
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${sizeKb}k,mode=0700`, 'tmpfs', path])
  } catch (error) {
    await folder.remove()
    throw new Error(`a tmpfs cannot be mounted, which this test needs root for: ${String(error)}`)
  }
  await writeFile(ballast, Buffer.alloc(ballastKb * 1024))
  return {
    path,
    dropBallast: () => rm(ballast),
    async [Symbol.asyncDispose]() {
      // Lazily, so that a file which a failed test left open cannot keep it.
      await execute('umount', ['-l', path])
      await folder.remove()
    },
  }
}
