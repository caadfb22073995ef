// The command as a user runs it: a process of its own with nothing in its environment but what the test gives.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Flags of Node itself. */
  readonly node?: readonly string[]
}

const COMMAND = `${import.meta.dirname}/../../bin/agenthost.mjs`

export async function agenthost(
  args: readonly string[],
  { env = {}, cwd, node = [] }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [...node, COMMAND, ...args], {
    env: { PATH: process.env.PATH, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const code = new Promise<number | null>((resolve, reject) => child.on('exit', resolve).on('error', reject))
  const [ended, stdout, stderr] = await Promise.all([code, text(child.stdout), text(child.stderr)])
  return { code: ended, stdout, stderr }
}
