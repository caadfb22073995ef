// `npm run check`: format, lint, types, architecture and dead code, side by side. Only what fails prints its output.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'

interface Outcome {
  name: string
  ok: boolean
  seconds: number
  output: string
}

const ROOT = join(import.meta.dirname, '..')
const TOOLS: ReadonlyArray<[name: string, command: string, ...args: string[]]> = [
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['types', 'tsc', '--noEmit'],
  ['architecture', 'vitest', 'run', 'test/architecture.test.ts'],
  ['dead code', 'knip', '--no-progress'],
]

// The project's own tools and its own Node come first, also when this file is started without npm.
const env = { ...process.env, PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter) }

function run([name, command, ...args]: (typeof TOOLS)[number]): Promise<Outcome> {
  const started = performance.now()
  return new Promise((resolve) => {
    let output = ''
    const collect = (chunk: string) => {
      output += chunk
    }
    const end = (ok: boolean) => resolve({ name, ok, seconds: (performance.now() - started) / 1000, output })
    const tool = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    tool.stdout.setEncoding('utf8').on('data', collect)
    tool.stderr.setEncoding('utf8').on('data', collect)
    tool.on('error', (error) => {
      collect(error.message)
      end(false)
    })
    tool.on('close', (code) => end(code === 0))
  })
}

async function runAndReport(tool: (typeof TOOLS)[number]): Promise<Outcome> {
  const outcome = await run(tool)
  console.log(`${outcome.ok ? '✓' : '✗'} ${outcome.name} ${outcome.seconds.toFixed(1)} s`)
  return outcome
}

const outcomes = await Promise.all(TOOLS.map(runAndReport))
const failed = outcomes.filter((outcome) => !outcome.ok)
for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trim()}`)
process.exitCode = failed.length > 0 ? 1 : 0
