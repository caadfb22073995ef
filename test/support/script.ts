// A small program of the tests as a process of its own: read line by line, told things, really killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

interface ScriptEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Script extends AsyncDisposable {
  readonly pid: number
  readonly ended: Promise<ScriptEnd>
  /** The whole lines of stdout so far. */
  lines(): string[]
  stderr(): string
  /** Resolves once stdout has this many whole lines; rejects when the script ends before. */
  said(count: number): Promise<string[]>
  tell(line: string): void
  end(signal: NodeJS.Signals): Promise<ScriptEnd>
}

interface ScriptOptions {
  /** Another program in front, such as strace. */
  wrap?: string[]
}

const SCRIPTS = {
  'hold-folder': new URL('./store-scripts/hold-folder.ts', import.meta.url),
  'hold-write-lock': new URL('./store-scripts/hold-write-lock.ts', import.meta.url),
  'migrate-until': new URL('./store-scripts/migrate-until.ts', import.meta.url),
  'write-once': new URL('./store-scripts/write-once.ts', import.meta.url),
  'write-until-killed': new URL('./store-scripts/write-until-killed.ts', import.meta.url),
}

export function startScript(
  name: keyof typeof SCRIPTS,
  args: string[] = [],
  { wrap = [] }: ScriptOptions = {},
): Script {
  const file = fileURLToPath(SCRIPTS[name])
  const [program, ...rest] = [...wrap, process.execPath, file, ...args] as [string, ...string[]]
  const child = spawn(program, rest, { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  const lines = () => output.stdout.split('\n').slice(0, -1)
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr += chunk
  })
  // It may be gone by the time it is told something.
  child.stdin.on('error', () => {})
  // 'close' comes after the last byte of stdout, 'exit' may come before it.
  const ended = once(child, 'close').then(([code, signal]): ScriptEnd => ({ code, signal }))

  async function said(count: number): Promise<string[]> {
    let alive = true
    while (lines().length < count && alive) {
      const over = ended.then(() => {
        alive = false
      })
      await Promise.race([once(child.stdout, 'data'), over])
    }
    if (lines().length < count) throw new Error(`${name} ended early: ${output.stdout}${output.stderr}`)
    return lines()
  }

  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return {
    ...{ pid: child.pid as number, ended, lines, stderr: () => output.stderr, said, end },
    tell: (line) => child.stdin.write(`${line}\n`),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
    },
  }
}
