// A real PostgreSQL server for a test: its own data folder and port, gone when the test ends.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postgresBin } from '../../scripts/programs.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

export interface Postgres extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  readonly folder: string
  stop(): Promise<void>
}

const READY = 'database system is ready to accept connections'
const ATTEMPTS = 3
const STOP_MS = 10_000
const execute = promisify(execFile)
const isRoot = () => process.getuid?.() === 0

// PostgreSQL refuses to run as root. The death signal stops the server even when the test worker is killed.
function unprivileged(program: string, args: string[]): [string, string[]] {
  if (process.platform !== 'linux') return [program, args]
  const user = isRoot() ? ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'] : []
  return ['setpriv', [...user, '--pdeathsig', 'INT', '--', program, ...args]]
}

async function createCluster(folder: TemporaryFolder): Promise<string> {
  if (isRoot()) await execute('chown', ['postgres:', folder.path])
  const data = join(folder.path, 'data')
  const options = ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync']
  const [program, args] = unprivileged(join(postgresBin(), 'initdb'), [...options, '--locale', 'C'])
  await execute(program, args, { cwd: folder.path })
  return data
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

/** Resolves with undefined once the server accepts connections, or with its log when it ends before. */
function readiness(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let log = ''
    server.on('error', reject)
    server.on('exit', () => resolve(log))
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk
      if (log.includes(READY)) resolve(undefined)
    })
  })
}

async function startServer(data: string, folder: string, port: number): Promise<ChildProcess | string> {
  // A crash of the machine is not what these tests are about, so no waiting for the disk.
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
  const options = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const [program, args] = unprivileged(join(postgresBin(), 'postgres'), options)
  const env = { ...process.env, LC_ALL: 'C' }
  const server = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  return (await readiness(server)) ?? server
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  server.kill('SIGINT')
  const impatience = setTimeout(() => server.kill('SIGQUIT'), STOP_MS)
  await exited
  clearTimeout(impatience)
}

async function startOnFreePort(folder: TemporaryFolder): Promise<Postgres> {
  const data = await createCluster(folder)
  let log = ''
  // Somebody else may take the free port before the server does.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = await freePort()
    const server = await startServer(data, folder.path, port)
    if (typeof server !== 'string') return handle(server, folder, port)
    log = server
  }
  throw new Error(`PostgreSQL does not start:\n${log}`)
}

function handle(server: ChildProcess, folder: TemporaryFolder, port: number): Postgres {
  const stop = async () => {
    await stopServer(server)
    await folder.remove()
  }
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return { url, pid: server.pid ?? 0, folder: folder.path, stop, [Symbol.asyncDispose]: stop }
}

export async function startPostgres(): Promise<Postgres> {
  const folder = await temporaryFolder()
  try {
    return await startOnFreePort(folder)
  } catch (error) {
    await folder.remove()
    throw error
  }
}
