// The service is killed again and again while its tool servers run: the polite ones end by themselves, the next start
// ends the rest, and the servers of another home are left alone.
//
//   STORM_KILLS=100 SEED=7 npx vitest run test/durability/tool-orphans.test.ts
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeHome, type TestHome } from '../support/home.ts'
import { misbehaving } from '../support/misbehaving/faults.ts'
import { readPids } from '../support/misbehaving/pids.ts'
import { isAlive } from '../support/processes.ts'
import { dice } from '../support/seed.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { serverFile, toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

const KILLS = Math.min(100, Number(process.env.STORM_KILLS ?? 8))
/** A server that notices the end of its input is gone by then. */
const POLITE_MS = 10_000
/** What is killed is gone a moment later. */
const MOMENT_MS = 2000
/** A polite server, one that ends for nobody, and two that leave processes behind: two and one. */
const TASK = ['polite_ok', 'stubborn__ok', 'group__ok', 'session__ok'].map((tool) => `call ${tool} {}`).join('\n')
const PROCESSES = 1 + 1 + 3 + 2

const living = (pids: number[]) => pids.filter(isAlive)

interface Servers extends Disposable {
  /** The pids of the polite one, and of all, so far. */
  polite(): number[]
  all(): number[]
}

async function putServers(home: TestHome): Promise<Servers> {
  const polite = await toolServer(home, 'polite', 'polite_ok')
  const pids = join(home.home, 'pids')
  const bad = {
    stubborn: misbehaving('stubborn', { pids }),
    group: misbehaving('grandchildren-in-group', { pids }),
    session: misbehaving('grandchild-in-session', { pids }),
  }
  await home.put('environments/default/servers.json', serverFile({ polite: polite.entry, ...bad }))
  await home.put('environments/default/agents/caller.prompt', 'Call.')
  const all = () => [...polite.starts(), ...readPids(pids)]
  return {
    ...{ polite: polite.starts, all },
    // What a failing test leaves would be there for ever.
    [Symbol.dispose]() {
      for (const pid of living(all())) process.kill(pid, 'SIGKILL')
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is under test
async function rest({ api }: ServiceProcess, method: string, path: string, body?: object): Promise<any> {
  const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
  return ((await (await fetch(`${api}/api/v1${path}`, { method, ...init })).json()) as { data: unknown }).data
}

/** Starts a run that calls every server. */
async function callAll(service: ServiceProcess): Promise<number> {
  const agent = await until('the agent is there', async () => (await rest(service, 'GET', '/agents'))[0])
  return (await rest(service, 'POST', `/agents/${agent.id}/run`, { task: TASK })).run_id
}

async function expectAllCalled(service: ServiceProcess): Promise<void> {
  const { status, steps } = await rest(service, 'GET', `/runs/${await callAll(service)}?wait=30`)
  expect(status).toBe('completed')
  expect(steps.filter(({ status }: { status: string }) => status !== 'completed')).toEqual([])
}

/** One life that is killed when it has started so many processes. Returns the pids of all that it started. */
async function liveAndDie(home: TestHome, { all, polite }: Servers, processes: number): Promise<number[]> {
  const before = new Set(all())
  await using service = await startService({ home: home.home })
  await until('what earlier lives have left is gone', () => living([...before]).length === 0, MOMENT_MS)
  await callAll(service)
  const own = () => all().filter((pid) => !before.has(pid))
  await until(`${processes} processes`, () => own().length >= processes)
  expect(await service.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
  await until('the polite ones are gone', () => living(polite()).length === 0, POLITE_MS)
  return own()
}

describe.runIf(process.platform === 'linux')('tool servers', () => {
  test(`${KILLS} kill -9 of the service leave none that outlasts the next start`, {
    timeout: 60_000 + KILLS * 10_000,
  }, async () => {
    const luck = dice()
    const hint = `seed ${luck.seed}`
    await using home = await makeHome()
    await using otherHome = await makeHome()
    using servers = await putServers(home)
    using others = await putServers(otherHome)
    await using neighbour = await startService({ home: otherHome.home })
    await expectAllCalled(neighbour)
    const untouched = living(others.all())
    expect(untouched).toHaveLength(PROCESSES)
    let orphans = 0
    for (let kill = 1; kill <= KILLS; kill++) {
      const own = await liveAndDie(home, servers, luck.roll(PROCESSES))
      orphans += living(own).length
      expect(living(others.all()), hint).toEqual(untouched)
    }
    expect(orphans, hint).toBeGreaterThan(0)
    await using last = await startService({ home: home.home })
    await until('the last kill has left nothing', () => living(servers.all()).length === 0, MOMENT_MS)
    await expectAllCalled(last)
    expect(living(servers.all())).toHaveLength(PROCESSES)
    expect(await last.end('SIGTERM')).toMatchObject({ code: 0 })
    expect(living(servers.all()), hint).toEqual([])
    await expectAllCalled(neighbour)
    expect(living(others.all()), hint).toEqual(untouched)
    expect(await neighbour.end('SIGTERM')).toMatchObject({ code: 0 })
    expect(living(others.all()), hint).toEqual([])
  })
})
