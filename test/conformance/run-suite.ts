// Runs scenarios of a conformance suite against the client under test, and reads what they found.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob, mkdir, readdir, readFile } from 'node:fs/promises'
import { delimiter, dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openLine } from './line.ts'
import type { Suite } from './suites.ts'

export interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  errorMessage?: string
}

/** By scenario. What is only for information is left out. */
export type Findings = Map<string, Check[]>

const ROOT = join(import.meta.dirname, '../..')
/** The suites cut the command at its spaces, so no path of this machine can be in it. */
const CLIENT = `node ${relative(ROOT, fileURLToPath(new URL('./client.ts', import.meta.url)))}`
/** A client stands in line for nearly as long as the whole suite takes. */
const PATIENCE_MS = 100_000

export async function runSuite(suite: Suite, signal: AbortSignal): Promise<Findings> {
  await using line = await openLine()
  const onOutput = (text: string) => {
    const [, scenarios] = /\((\d+) scenarios\) in parallel/.exec(text) ?? []
    if (scenarios) line.expect(Number(scenarios))
  }
  return await run([suite.program, 'client', ...suite.all], { env: line.env, onOutput, signal })
}

/** One scenario, with a client that is a process of its own and waits for nobody. */
export async function runAlone(suite: Suite, scenario: string, signal: AbortSignal): Promise<Check[]> {
  const found = await run([suite.program, 'client', ...suite.one(scenario)], { signal })
  return found.get(scenario) ?? []
}

interface RunOptions {
  env?: Record<string, string>
  onOutput?: (line: string) => void
  signal: AbortSignal
}

async function run(args: string[], { env = {}, onOutput = () => {}, signal }: RunOptions): Promise<Findings> {
  await using folder = await temporaryFolder()
  const results = join(folder.path, 'results')
  const homes = join(folder.path, 'homes')
  await mkdir(homes)
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const options = ['--command', CLIENT, '--timeout', String(PATIENCE_MS), '-o', results]
  const child = spawn(process.execPath, [...args, ...options], {
    cwd: ROOT,
    env: { PATH: path, TMPDIR: homes, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const end = () => endGroup(child)
  signal.addEventListener('abort', end)
  createInterface(child.stdout).on('line', onOutput)
  await once(child, 'close')
  signal.removeEventListener('abort', end)
  signal.throwIfAborted()
  if (end()) throw new Error('the suite or its clients leave a process behind')
  const [left] = await readdir(homes)
  if (left) throw new Error(`a client leaves the folder ${left} behind`)
  return await readFindings(results)
}

/** Whether there was anything to end. */
function endGroup({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, 'SIGKILL')
  } catch {
    return false
  }
}

async function readFindings(folder: string): Promise<Findings> {
  const found: Findings = new Map()
  for await (const file of glob('**/checks.json', { cwd: folder })) {
    const scenario = dirname(file).replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
    const checks: Check[] = JSON.parse(await readFile(join(folder, file), 'utf8'))
    found.set(
      scenario,
      checks.filter(({ status }) => status !== 'INFO'),
    )
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
