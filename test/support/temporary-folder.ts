// Temporary folders of the tests. Each one is remembered until it is removed, so leaks.ts can name leftovers.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
  remove(): Promise<void>
}

const open = new Set<string>()

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'agenthost-test-'))
  open.add(path)
  const remove = async () => {
    await rm(path, { recursive: true, force: true })
    open.delete(path)
  }
  return { path, remove, [Symbol.asyncDispose]: remove }
}

export const leftoverFolders = (): string[] => [...open]
