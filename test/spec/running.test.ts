// How the service starts: what it says, what it makes in its home, and why it refuses.
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stracePath } from '../../scripts/programs.ts'
import { agenthost } from '../support/agenthost.ts'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withoutRootRights } from '../support/without-root-rights.ts'
import { proves } from './proves.ts'

const FREE_PORTS = { SVC_API_PORT: '0', SVC_MCP_PORT: '0', SVC_AGENT_MCP_PORT: '0' }
const READY = /^ready api=http:\/\/localhost:(\d+) mcp=http:\/\/localhost:(\d+) agents=http:\/\/localhost:(\d+)\n$/

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

async function bodyOf(url: string) {
  const response = await fetch(url)
  // biome-ignore lint/suspicious/noExplicitAny: whatever came back is under test
  return { status: response.status, body: (await response.json()) as any }
}

async function names(api: string): Promise<string[]> {
  const { body } = await bodyOf(`${api}/api/v1/agents`)
  return body.data.map(({ name }: { name: string }) => name)
}

describe('the output', () => {
  proves(
    ['cli.serve', 'running.ready-line', 'running.logs-on-stderr', 'running.port-zero'],
    'stdout has the ready line alone, with three different real ports, also after requests and the stop',
    async () => {
      await using home = await temporaryFolder()
      await using service = await startService({ home: home.path, env: { SVC_LOG_LEVEL: 'trace' } })
      const doors = [`${service.api}/api/v1/health`, `${service.mcp}/health`, `${service.agents}/health`]
      const answers = await Promise.all(doors.map(bodyOf))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      await service.end('SIGTERM')
      expect(service.stdout()).toMatch(READY)
      const ports = READY.exec(service.stdout())?.slice(1) ?? []
      expect(new Set(ports).size).toBe(3)
      expect(ports).not.toContain('0')
    },
  )

  proves('running.logs-on-stderr', 'every line on stderr is a JSON object with time, level and message', async () => {
    await using home = await temporaryFolder()
    const env = { SVC_LOG_LEVEL: 'trace', SVC_NO_SUCH_SETTING: '1' }
    await using service = await startService({ home: home.path, env })
    await service.end('SIGTERM')
    const lines = service.stderr().trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), time: expect.stringMatching(/Z$/) })
    }
    expect(service.stderr()).toContain('SVC_NO_SUCH_SETTING')
  })

  proves(
    'running.health-on-mcp-ports',
    'GET /health is a bare {status} on the ports of both MCP servers, and in the envelope on the REST port',
    async () => {
      await using home = await temporaryFolder()
      await using service = await startService({ home: home.path })
      const bare = { status: 200, body: { status: 'ok' } }
      expect(await bodyOf(`${service.mcp}/health`)).toEqual(bare)
      expect(await bodyOf(`${service.agents}/health`)).toEqual(bare)
      expect(await bodyOf(`${service.api}/api/v1/health`)).toMatchObject({ body: { success: true } })
    },
  )
})

describe('the home', () => {
  proves(
    ['running.home-setting', 'running.embedded-database'],
    'a first start makes config.yaml with the marker, an example agent, and a private data folder with the database',
    async () => {
      await using folder = await temporaryFolder()
      const home = join(folder.path, 'made', 'here')
      await using service = await startService({ home })
      expect((await readdir(home)).sort()).toEqual(['.gitignore', 'config.yaml', 'data', 'environments'])
      expect(await readFile(join(home, 'config.yaml'), 'utf8')).toMatch(/^agenthost: 1$/m)
      expect(await readdir(join(home, 'environments', 'default', 'agents'))).toEqual(['hello.prompt'])
      expect(await modeOf(join(home, 'data'))).toBe('700')
      expect(await modeOf(home)).toBe('700')
      const { body } = await bodyOf(`${service.api}/api/v1/health`)
      expect(body.data.database).toEqual({ kind: 'sqlite', ok: true })
      const database = await readFile(join(home, 'data', 'agenthost.sqlite'))
      expect(database.subarray(0, 15).toString()).toBe('SQLite format 3')
      expect(await modeOf(join(home, 'data', 'agenthost.sqlite'))).toBe('600')
    },
  )

  test('what is already in the home is never overwritten, and an emptied environments folder stays empty', async () => {
    await using home = await temporaryFolder()
    const config = '# mine\nagenthost: 1\nlog_level: warn\n'
    await writeFile(join(home.path, 'config.yaml'), config)
    await mkdir(join(home.path, 'environments'))
    await using service = await startService({ home: home.path })
    expect(await readFile(join(home.path, 'config.yaml'), 'utf8')).toBe(config)
    await service.end('SIGTERM')
    expect(await readdir(join(home.path, 'environments'))).toEqual([])
  })

  test('an example agent that was edited is the same after the next start', async () => {
    await using home = await temporaryFolder()
    const hello = join(home.path, 'environments', 'default', 'agents', 'hello.prompt')
    await (await startService({ home: home.path })).end('SIGTERM')
    await writeFile(hello, 'Mine.\n')
    await (await startService({ home: home.path })).end('SIGTERM')
    expect(await readFile(hello, 'utf8')).toBe('Mine.\n')
  })

  test('two homes run side by side and share nothing', async () => {
    await using first = await temporaryFolder()
    await using second = await temporaryFolder()
    await using one = await startService({ home: first.path })
    await using other = await startService({ home: second.path })
    const body = JSON.stringify({ name: 'only-here', prompt: 'p' })
    const headers = { 'content-type': 'application/json' }
    const made = await fetch(`${one.api}/api/v1/agents`, { method: 'POST', body, headers })
    expect(made.status).toBe(201)
    expect(await names(one.api)).toContain('only-here')
    expect(await names(other.api)).not.toContain('only-here')
  })
})

describe('a folder that cannot be written', () => {
  test('the start fails with exit code 1 and one line that names the folder', async () => {
    await using folder = await temporaryFolder()
    await chmod(folder.path, 0o555)
    const home = join(folder.path, 'home')
    const start = startService({ home, wrap: withoutRootRights })
    const said = await start.then(
      () => 'it started',
      (error: Error) => error.message,
    )
    expect(said).toMatch(/^the service ended with 1: agenthost: [^\n]*\n$/)
    expect(said).toContain(home)
  })

  test('a home below a file fails with exit code 1 and one line that names it', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'file'), '')
    const home = join(folder.path, 'file', 'home')
    const outcome = await agenthost(['serve', '--home', home], { env: FREE_PORTS })
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^agenthost: [^\n]*\n$/)
    expect(outcome.stderr).toContain(home)
  })

  test('a read-only environments folder is read all the same', async () => {
    await using home = await temporaryFolder()
    const agents = join(home.path, 'environments', 'default', 'agents')
    await mkdir(agents, { recursive: true })
    await writeFile(join(agents, 'reader.prompt'), 'Read.\n')
    for (const path of [agents, join(agents, '..'), join(agents, '..', '..')]) await chmod(path, 0o555)
    await using service = await startService({ home: home.path, wrap: withoutRootRights })
    await expect.poll(() => names(service.api)).toContain('reader')
    await service.end('SIGTERM')
    for (const path of [join(agents, '..', '..'), join(agents, '..'), agents]) await chmod(path, 0o755)
  })
})

proves(
  'running.nothing-else-needed',
  'a start with an empty home, no key and no network but loopback gets ready and calls nobody',
  async () => {
    await using folder = await temporaryFolder()
    const trace = join(folder.path, 'trace')
    // Where the machine allows it there is no network at all; the trace shows everywhere that nobody is called.
    const loopbackOnly = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
    const isolated = spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0
    const calls = 'trace=connect,sendto,sendmsg,sendmmsg'
    const strace = [stracePath(), '--daemonize=grandchild', '--follow-forks', '-e', calls, '-o', trace]
    const wrap = [...(isolated ? loopbackOnly : []), ...strace]
    await using service = await startService({ home: join(folder.path, 'home'), wrap })
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await expect.poll(() => readFile(trace, 'utf8')).toMatch(new RegExp(`^${service.pid} .*exited with 0`, 'm'))
    expect((await readFile(trace, 'utf8')).match(/^.*AF_INET.*$/gm)).toBeNull()
  },
  60_000,
)
