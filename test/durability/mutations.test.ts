// The planted bugs are changes of text: each still finds its place in the sources, else nobody would plant it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MUTATIONS } from './mutations.ts'

const ROOT = join(import.meta.dirname, '../..')

test.for(MUTATIONS.map(({ name, changes }) => [name, changes] as const))('%s', ([, changes]) => {
  for (const { file, find } of changes) {
    expect(readFileSync(join(ROOT, file), 'utf8').split(find), `${file}: ${find}`).toHaveLength(2)
  }
})
