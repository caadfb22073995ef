// The service as people start it: through npm, which stands between the terminal and the service.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { complaints } from '../support/complaints.ts'
import { isAlive } from '../support/processes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const execute = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')
const FREE_PORTS = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }
const INSTALL_MS = 150_000

/** The PATH of the machine, without the carried Node that a test run under npm finds first. */
const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

interface NpmStart extends AsyncDisposable {
  readonly child: ChildProcess
  readonly ready: string
  readonly stderr: Promise<string>
}

async function npmStart({ cwd, home }: { cwd: string; home: string }): Promise<NpmStart> {
  const env = { PATH: path, HOME: home, SVC_HOME: join(home, 'service'), ...FREE_PORTS }
  // A group of its own, as a terminal gives to what is typed.
  const options = { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }
  const child = spawn('npm', ['start', '--silent'], options)
  const stderr = text(child.stderr)
  const dispose = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'exit')
  }
  const ended = once(child, 'exit').then(async ([code]) => {
    throw new Error(`npm start ended with ${code}: ${await stderr}`)
  })
  ended.catch(() => {})
  const [ready] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  return { child, ready, stderr, [Symbol.asyncDispose]: dispose }
}

async function descendants(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const pids = children.split(' ').filter(Boolean).map(Number)
  return [...pids, ...(await Promise.all(pids.map(descendants))).flat()]
}

describe('npm start', () => {
  const ways = [
    { how: 'SIGTERM to npm', signal: 'SIGTERM', toGroup: false },
    { how: 'SIGINT to npm', signal: 'SIGINT', toGroup: false },
    { how: 'Ctrl-C, a SIGINT to the whole group', signal: 'SIGINT', toGroup: true },
    { how: 'SIGTERM to the whole group', signal: 'SIGTERM', toGroup: true },
  ] as const

  for (const { how, signal, toGroup } of ways) {
    proves('running.stop', `${how} ends npm with exit code 0 and leaves no process`, async () => {
      await using home = await temporaryFolder()
      await using npm = await npmStart({ cwd: ROOT, home: home.path })
      const pid = npm.child.pid as number
      const tree = [pid, ...(await descendants(pid))]
      expect(tree.length).toBeGreaterThan(1)
      const ended = once(npm.child, 'exit')
      process.kill(toGroup ? -pid : pid, signal)
      expect(await ended).toEqual([0, null])
      expect(tree.filter(isAlive)).toEqual([])
      expect(complaints(await npm.stderr)).toEqual([])
    })
  }

  proves(
    'running.two-commands',
    'npm ci and npm start in a fresh copy, on the Node of the machine, bring all three listeners up',
    async () => {
      await using folder = await temporaryFolder()
      const copy = join(folder.path, 'copy')
      const files = ['package.json', 'package-lock.json', '.npmrc', 'bin', 'src']
      for (const file of files) await cp(join(ROOT, file), join(copy, file), { recursive: true })
      // What the tests need is left out; what this machine has fetched before is not fetched again.
      const { stdout: cache } = await execute('npm', ['config', 'get', 'cache'])
      const env = { PATH: path, HOME: folder.path, npm_config_cache: cache.trim() }
      await execute('npm', ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: copy, env })
      await using npm = await npmStart({ cwd: copy, home: folder.path })
      const doors = [...npm.ready.matchAll(/\w+=(http:\S+)/g)].map(([, url], door) => url + (door ? '' : '/api/v1'))
      const statuses = await Promise.all(doors.map(async (url) => (await fetch(`${url}/health`)).status))
      expect(statuses).toEqual([200, 200, 200])
      const ended = once(npm.child, 'exit')
      npm.child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    },
    INSTALL_MS,
  )
})
