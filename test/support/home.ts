// A home folder for a service process, empty but for what a test puts there.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

export interface TestHome extends AsyncDisposable {
  home: string
  put(path: string, text: string): Promise<void>
}

/** Its environments folder is there already, so that no example is made. */
export async function makeHome(): Promise<TestHome> {
  const folder = await temporaryFolder()
  const put = async (path: string, text: string) => {
    const file = join(folder.path, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  await mkdir(join(folder.path, 'environments/default'), { recursive: true })
  return { home: folder.path, put, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] }
}
