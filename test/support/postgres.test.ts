// The PostgreSQL of the tests is a real server and leaves nothing behind.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { postgresBin } from '../../scripts/programs.ts'
import { startPostgres } from './postgres.ts'

const execute = promisify(execFile)

function processesMentioning(text: string): string[] {
  const commands = readdirSync('/proc').map((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  })
  return commands.filter((command) => command.includes(text))
}

async function psql(url: string, statement: string): Promise<string> {
  const { stdout } = await execute(join(postgresBin(), 'psql'), [url, '--tuples-only', '--no-align', '-c', statement])
  return stdout.trim()
}

test('the server answers SQL, and after stop neither a process nor its folder is left', async () => {
  await using postgres = await startPostgres()
  expect(await psql(postgres.url, 'select 1')).toBe('1')
  expect(processesMentioning(postgres.folder)).not.toEqual([])
  await postgres.stop()
  expect(processesMentioning(postgres.folder)).toEqual([])
  expect(() => process.kill(postgres.pid, 0)).toThrow('ESRCH')
  expect(existsSync(postgres.folder)).toBe(false)
})

test('two servers run side by side', async () => {
  await using first = await startPostgres()
  await using second = await startPostgres()
  await psql(first.url, 'create table only_here (id int)')
  expect(await psql(second.url, "select to_regclass('only_here') is null")).toBe('t')
})
