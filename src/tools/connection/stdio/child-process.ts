/**
 * The process behind a stdio server. It leads a process group of its own, so that it ends together with all that it
 * started: npx, for one, starts a shell that starts the server.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import type { StdioTarget } from '../../servers/server-config.ts'
import { within } from '../within.ts'
import { keepLastWords } from './last-words.ts'
import { CONNECTION_MARK, SERVICE_MARK, signal } from './process-marks.ts'
import { spawnFailure } from './spawn-failure.ts'
import type { Sweep } from './sweep.ts'

export interface Child {
  readonly pid: number
  readonly input: Writable
  readonly output: Readable
  /** Says how it ended. */
  readonly exited: Promise<string>
  /** The same with its last words, once all that it started is gone too. */
  readonly ended: Promise<string>
  /** What it said last on stderr; empty when it said nothing. */
  lastWords(): string
  /** Asks it to end, then makes it. Resolves when it is gone, and may be asked for again. */
  end(): Promise<void>
}

interface ChildParts {
  target: StdioTarget
  inherited: Readonly<Record<string, string>>
  /** Value of the mark that says which service it belongs to. */
  service: string
  sweep: Sweep
  mask(text: string): string
}

const IS_WINDOWS = process.platform === 'win32'
const GRACE_MS = 500
const TERM_MS = 1_000
const KILL_MS = 500
/** How long its last output may take to arrive after it has ended. */
const DRAIN_MS = 250

/** Rejects with ServerFailure when it cannot be started. */
export async function startChild({ target, inherited, service, sweep, mask }: ChildParts): Promise<Child> {
  const mark = randomUUID()
  const marks = { [SERVICE_MARK]: service, [CONNECTION_MARK]: mark }
  const env = { ...getDefaultEnvironment(), ...passedOn(inherited), ...target.env, ...marks }
  const child = await start(target, env)
  const pid = child.pid as number
  const lastWords = keepLastWords(child.stderr as Readable, mask)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(wayOut(code, signal)))
  })
  const drained = new Promise((resolve) => child.once('close', resolve))
  const ended = exited.then(async (how) => {
    if (!IS_WINDOWS) signal(-pid, 'SIGKILL')
    await Promise.all([sweep(mark), within(drained, DRAIN_MS)])
    release(child)
    return lastWords() ? `${how}: ${lastWords()}` : how
  })
  let ending: Promise<void> | undefined
  const end = () =>
    (ending ??= endChild(child, exited)
      .then(() => within(ended, KILL_MS))
      .then(() => release(child)))
  return { pid, input: child.stdin as Writable, output: child.stdout as Readable, exited, ended, lastWords, end }
}

/** Which certificates to believe, the language and the time of the place: no program works well without them. */
const PASSED_ON =
  /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|LANG|LC_\w+|TZ|TMPDIR)$/

const passedOn = (env: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)))

async function start(target: StdioTarget, env: Record<string, string>): Promise<ChildProcess> {
  try {
    const child = spawn(target.command, [...target.args], {
      cwd: target.cwd,
      env,
      stdio: 'pipe',
      // Windows has no process groups, and would open a window.
      detached: !IS_WINDOWS,
      windowsHide: true,
    })
    await once(child, 'spawn')
    // What can still go wrong, such as a pipe that breaks, shows in the end of the process.
    child.on('error', () => {})
    for (const pipe of child.stdio) pipe?.on('error', () => {})
    return child
  } catch (error) {
    throw await spawnFailure(error, target)
  }
}

async function endChild(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  const pid = child.pid as number
  child.stdin?.end()
  if (await within(exited, GRACE_MS)) return
  signalAll(pid, 'SIGTERM')
  if (await within(exited, TERM_MS)) return
  signalAll(pid, 'SIGKILL')
  await within(exited, KILL_MS)
}

function signalAll(pid: number, name: NodeJS.Signals): void {
  if (!IS_WINDOWS) signal(-pid, name)
  // The only way there to reach what a process has started.
  else
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
}

/** A process that left the group may hold the pipes open for ever. */
function release(child: ChildProcess): void {
  child.stdin?.destroy()
  child.stdout?.destroy()
  child.stderr?.destroy()
  child.unref()
}

const wayOut = (code: number | null, signal: NodeJS.Signals | null) =>
  code === null ? `the server was ended by ${signal}` : `the server exited with code ${code}`
