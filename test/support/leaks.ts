// Runs around every test file: whoever leaves a process, a listening server or a temporary folder behind fails.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { leftoverFolders } from './temporary-folder.ts'

const GRACE_MS = 2_000
const POLL_MS = 20

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function childPids(): number[] {
  if (process.platform !== 'linux') return []
  const threads = readdirSync('/proc/self/task')
  const lists = threads.map((thread) => readOrEmpty(`/proc/self/task/${thread}/children`))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

const commandOf = (pid: number) => readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()

const resources = (kind: string) => process.getActiveResourcesInfo().filter((name) => name === kind).length

const before = {
  children: new Set(childPids()),
  servers: resources('TCPServerWrap'),
  processes: resources('ProcessWrap'),
}

const leftoverChildren = () => childPids().filter((pid) => !before.children.has(pid))

function leaks(): string[] {
  const children = leftoverChildren()
  const servers = resources('TCPServerWrap') - before.servers
  const processes = resources('ProcessWrap') - before.processes
  return [
    ...children.map((pid) => `child process ${pid} (${commandOf(pid) || 'ended, not waited for'})`),
    ...(children.length === 0 && processes > 0 ? [`${processes} child process(es)`] : []),
    ...(servers > 0 ? [`${servers} listening TCP server(s)`] : []),
    ...leftoverFolders().map((path) => `temporary folder ${path}`),
  ]
}

/** One file's leak must not become the next file's problem. */
function clearAway(): void {
  for (const pid of leftoverChildren()) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended on its own in the meantime.
    }
  }
  for (const path of leftoverFolders()) rmSync(path, { recursive: true, force: true })
}

afterAll(async () => {
  // The end of a process or a server that was told to stop arrives a moment later.
  const deadline = Date.now() + GRACE_MS
  let found = leaks()
  while (found.length > 0 && Date.now() < deadline) {
    await delay(POLL_MS)
    found = leaks()
  }
  if (found.length === 0) return
  clearAway()
  throw new Error(`this test file leaves behind: ${found.join('; ')}`)
})
