// Plants bugs in a copy of the sources, one at a time, and shows which check of the durability suite finds each of them.
//
//   node test/durability/seeded-bugs.ts             every bug, until a suite finds it
//   node test/durability/seeded-bugs.ts "cancel"    only the bugs with this in their name
//   ALL=1 node test/durability/seeded-bugs.ts       every suite for every bug
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MUTATIONS, type Mutation } from './mutations.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIED = ['src', 'test', 'bin', 'package.json', 'vitest.config.ts', 'tsconfig.json']
/** The quickest first. */
const SUITES = ['in-doubt', 'crash-pairs', 'recovery', 'drain', 'storm']
/** A storm is long enough here when it is this long. */
const ENV = { STORM_KILLS: '15', STORM_RUNS: '300' }

interface Report {
  testResults: { assertionResults: { status: string; title: string; failureMessages: string[] }[] }[]
}

function copyWith({ changes }: Pick<Mutation, 'changes'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'agenthost-bug-'))
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const { file, find, replace } of changes) {
    const parts = readFileSync(join(folder, file), 'utf8').split(find)
    if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times, not once: ${find}`)
    writeFileSync(join(folder, file), parts.join(replace))
  }
  return folder
}

/** The first failure of a suite in one line; undefined when all is well. */
async function failureOf(folder: string, suite: string, test?: string): Promise<string | undefined> {
  const report = join(folder, `${suite}.json`)
  const args = ['run', `test/durability/${suite}.test.ts`, '--reporter=json', `--outputFile=${report}`, '--bail=1']
  if (test) args.push('-t', test)
  const vitest = spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: folder,
    env: { ...process.env, ...ENV },
    stdio: 'ignore',
  })
  const [code] = await once(vitest, 'exit')
  if (code === 0) return undefined
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const failed = testResults.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed')
  if (!failed) return 'the suite could not run'
  const message = failed.failureMessages[0]?.split('\n')[0]?.replace(/^\w*Error: /, '') ?? ''
  return `${failed.title.replace(/ \[.*/, '')} → ${message}`
}

interface Caught {
  suite: string
  failure: string
}

async function tryBug(mutation: Pick<Mutation, 'changes' | 'first'>, isComplete: boolean): Promise<Caught[]> {
  const folder = copyWith(mutation)
  const caught: Caught[] = []
  const suites: [suite: string, test?: string][] = SUITES.map((suite) => [suite])
  try {
    for (const [suite, test] of mutation.first ? [mutation.first, ...suites] : suites) {
      const failure = await failureOf(folder, suite, test)
      if (failure) caught.push({ suite, failure })
      if (failure && !isComplete) break
    }
    return caught
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const cell = (text: string) => text.replaceAll('|', '\\|').slice(0, 200)

const [wanted = ''] = process.argv.slice(2)
say('| bug | caught by | how |\n|---|---|---|')
const [sound] = await tryBug({ changes: [] }, true)
say(`| (none) | ${sound ? `${sound.suite}: ${cell(sound.failure)}` : 'nobody'} | the copy without a bug passes |`)
let missed = sound ? 1 : 0
for (const mutation of MUTATIONS.filter(({ name }) => name.includes(wanted))) {
  const caught = await tryBug(mutation, process.env.ALL !== undefined)
  if (caught.length === 0) missed += 1
  const how = caught.map(({ failure }) => cell(failure)).join('<br>')
  say(`| ${mutation.name} | ${caught.map(({ suite }) => suite).join(', ') || '**NOBODY**'} | ${how} |`)
}
process.exitCode = missed > 0 ? 1 : 0
