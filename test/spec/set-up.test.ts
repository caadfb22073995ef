// What a machine lacks for the tests is brought or named; nothing is skipped in silence.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const ROOT = join(import.meta.dirname, '../..')

const setUp = (PATH: string | undefined) =>
  spawnSync(process.execPath, ['scripts/setup.ts'], { cwd: ROOT, env: { PATH }, encoding: 'utf8' })

proves('testing.set-up', 'the set-up step runs before every `npm test`', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(scripts.pretest).toContain('setup')
})

proves('testing.set-up', 'a machine that has everything is told nothing', () => {
  const { status, stdout, stderr } = setUp(process.env.PATH)
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
})

proves('testing.set-up', 'what is missing and cannot be installed is named with how to install it', async () => {
  await using empty = await temporaryFolder()
  const { status, stderr } = setUp(empty.path)
  expect(status).toBe(1)
  expect(stderr).toMatch(/Chromium: .*install.*chromium/)
  expect(stderr).toMatch(/strace: .*install.*strace/)
})
