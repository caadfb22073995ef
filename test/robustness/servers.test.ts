// Every misbehaving tool server through the whole service: a call of it ends in time with words that say what happened,
// runs of others notice nothing, memory stays bounded, and no process is left.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { FAULTS, type Fault, misbehaving } from '../support/misbehaving/faults.ts'
import { type MeasuredService, startMeasuredService } from '../support/misbehaving/measured-service.ts'
import { OUTCOMES } from '../support/misbehaving/outcomes.ts'
import { readPids } from '../support/misbehaving/pids.ts'
import { namesOf, placeIn, tryOut } from '../support/misbehaving/trial.ts'
import { expectDown, expectOutcome, expectUp } from '../support/misbehaving/verdict.ts'
import { isAlive } from '../support/processes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { serverFile } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

/** These could need much memory, and are tried in a process of their own. */
const HEAVY: readonly Fault[] = [
  ...(['large-answer', 'too-large-answer', 'endless-output', 'stderr-flood', 'huge-error', 'log-flood'] as const),
  ...(['many-tools', 'huge-schema', 'schema-bombs', 'endless-pages', 'list-changed-flood'] as const),
]
const LIGHT = (Object.keys(FAULTS) as Fault[]).filter((fault) => !HEAVY.includes(fault))
const SECRET = 'loose-lips-4711'
const GONE_MS = 5000
/** While it is at it, garbage included: far less than what these would take of somebody who keeps it all. */
const MOST_PEAK = 384 * 1024 * 1024

const subject = (fault: Fault, pids: string) => ({
  entry: { ...misbehaving(fault, { pids, seconds: 1 }), env: { API_TOKEN: SECRET } },
  connects: OUTCOMES[fault].down === undefined,
  tool: OUTCOMES[fault].tool ?? 'fault',
})

describe.concurrent('a server that', () => {
  test.for(LIGHT)('%s', async (fault) => {
    await using folder = await temporaryFolder()
    const pids = join(folder.path, 'pids')
    const app = await startApp()
    const outcome = OUTCOMES[fault]
    try {
      const trial = await tryOut(placeIn(app), subject(fault, pids))
      expectOutcome(trial, outcome)
      await (outcome.down ? expectDown(trial, outcome.down) : expectUp(trial, outcome))
      const shown = [trial, await trial.server(), (await app.api('GET', '/tools')).body]
      expect(JSON.stringify(shown)).not.toContain(SECRET)
    } finally {
      const closing = performance.now()
      await app[Symbol.asyncDispose]()
      const left = GONE_MS - (performance.now() - closing)
      await until('all its processes are gone', () => !readPids(pids).some(isAlive), left)
    }
    expect(readPids(pids).length).toBeGreaterThan(0)
  })
})

describe('the end of the service', () => {
  test.for(['silent-at-start', 'hangs-in-list', 'starts-late'] as const)(
    'does not wait for a server that %s',
    async (fault) => {
      await using folder = await temporaryFolder()
      const pids = join(folder.path, 'pids')
      const app = await startApp()
      await app.put('default/servers.json', serverFile({ bad: misbehaving(fault, { pids, seconds: 60 }) }))
      const syncing = app.api('POST', '/environments/default/sync')
      await until('it is at it', () => readPids(pids).length === (fault === 'hangs-in-list' ? 2 : 1))
      const closing = performance.now()
      await app[Symbol.asyncDispose]()
      expect(performance.now() - closing).toBeLessThan(GONE_MS)
      expect(readPids(pids).filter(isAlive)).toEqual([])
      await syncing.catch(() => undefined)
    },
  )
})

describe('tools that', () => {
  test('change in the middle of a run are new to the next one alone', async () => {
    await using app = await startApp()
    const place = placeIn(app)
    const { runOf } = await tryOut(place, { entry: misbehaving('changing-list'), connects: true, tool: 'fault' })
    await until('the first new one is listed', async () => (await namesOf(place)).includes('extra-2'))
    const { status, steps } = await runOf('call ok {}\ncall fine {"ms": 3000}\ncall extra-2 {}\ncall extra-3 {}')
    expect(status).toBe('completed')
    expect(steps.find(({ name }) => name === 'extra-2')).toMatchObject({ status: 'completed', output: 'extra-2' })
    const unknown = expect.stringContaining("There is no tool named 'extra-3'")
    expect(steps.find(({ name }) => name === 'extra-3')).toMatchObject({ status: 'error', error: unknown })
    await until('the next one is listed', async () => (await namesOf(place)).includes('extra-3'))
    expect((await runOf('call extra-3 {}')).steps[1]).toMatchObject({ status: 'completed', output: 'extra-3' })
  })

  test('have odd names can be called', async () => {
    await using app = await startApp()
    const place = placeIn(app)
    const { runOf } = await tryOut(place, { entry: misbehaving('bad-names'), connects: true, tool: 'fault' })
    const names = await namesOf(place)
    const { steps } = await runOf(names.map((name) => `call ${name} {}`).join('\n'))
    const calls = steps.filter(({ type }) => type === 'tool')
    expect(calls.map(({ name }) => name).filter((name) => !/^[\w-]{1,64}$/.test(name))).toEqual([])
    expect(calls.map(({ output }) => output)).toEqual(['ok', 'fault', 'two words/ümlaut', '../../etc', '__proto__'])
  })
})

describe('a service process with a server that', () => {
  let service: MeasuredService
  beforeAll(async () => {
    service = await startMeasuredService()
  })
  afterAll(() => service[Symbol.asyncDispose]())

  test.for(HEAVY)('%s', async (fault) => {
    const place = service.place(fault)
    const pids = join(service.home, `pids-${fault}`)
    const outcome = OUTCOMES[fault]
    const trial = await tryOut(place, subject(fault, pids))
    expectOutcome(trial, outcome)
    await expectUp(trial, outcome)
    for (let more = 0; more < 3; more++) await trial.runOf(`call ${outcome.tool ?? 'fault'} {}`)
    await service.settled()
    expect(service.peak()).toBeLessThan(MOST_PEAK)
    await place.put(`${fault}/servers.json`, serverFile({}))
    await place.rest('POST', `/environments/${fault}/sync`)
    await until('all its processes are gone', () => !readPids(pids).some(isAlive), GONE_MS)
  })
})
