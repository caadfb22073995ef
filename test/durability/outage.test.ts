// A database that fails now and then, or for a while: nothing is lost, nothing is done twice, nobody restarts anything.
import { describe, expect, test, vi } from 'vitest'
import type { Tool } from '../../src/contract/tool.ts'
import { storageUnavailable } from '../../src/store/sqlite/failure.ts'
import type { Store } from '../../src/store/store.ts'
import { proves } from '../spec/proves.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { startService } from '../support/service-process.ts'
import { holdDatabase } from '../support/storage-outage.ts'
import { mountTinyDisk } from '../support/tiny-disk.ts'
import { toolsFrom } from '../support/tools-from.ts'

interface Body {
  data: { id: number; run_id: number; status: string }
  pagination: { total: number }
}

/** What a run writes between its accept and its end. */
const OF_A_RUN = ['claimRun', 'recordSteps', 'setPhase', 'releaseRun']

/** Fails the n-th write of a run: before anything happened, or after the commit, whose answer is lost. */
function failing(nth: number, when: 'before' | 'after') {
  let count = 0
  let fired = false
  const around = (store: Store): Store => ({
    ...store,
    async write(name, input) {
      if (!OF_A_RUN.includes(name) || ++count !== nth) return store.write(name, input)
      fired = true
      if (when === 'after') await store.write(name, input)
      throw storageUnavailable(new Error('test'))
    },
  })
  return { around, hasFired: () => fired }
}

function createLedger(): { tool: Tool; keys: string[] } {
  const keys: string[] = []
  const { tool } = createGate('pay')
  const call: Tool['call'] = async (_input, { key }) => {
    keys.push(key)
    return { output: 'paid', is_error: false }
  }
  return { keys, tool: { ...tool, call } }
}

const counts = async (app: TestApp) =>
  Promise.all(
    ['running', 'completed', 'error'].map(
      async (status) => (await app.api('GET', `/runs?status=${status}`)).body.pagination.total,
    ),
  )

describe.each(['before', 'after'] as const)('a write that fails %s its commit', (when) => {
  test('whichever it is, the run completes, every call is made once and every count is right', async () => {
    for (let nth = 1, hasFired = true; hasFired; nth++) {
      const fault = failing(nth, when)
      const ledger = createLedger()
      await using app = await startApp({}, { tools: toolsFrom([ledger.tool]), around: fault.around })
      const { id } = await createAgent(app)
      const run = await endedRun(app, await startRun(app, id, 'call pay {"n":1}\ncall pay {"n":2}'))
      hasFired = fault.hasFired()
      expect(run, `write ${nth}`).toMatchObject({ status: 'completed', steps_count: 5, tool_calls_count: 2 })
      expect(ledger.keys, `write ${nth}`).toEqual([`${run.id}:1.0`, `${run.id}:2.0`])
      expect(
        run.steps.every(({ status, attempts }) => status === 'completed' && attempts <= 2),
        `write ${nth}`,
      ).toBe(true)
      expect(run.usage.input_tokens).toBe(run.steps.reduce((sum, { usage }) => sum + (usage?.input_tokens ?? 0), 0))
      expect(await counts(app)).toEqual([0, 1, 0])
    }
  }, 120_000)
})

describe('a database that is held by somebody else', () => {
  proves(
    'webhook.storage-down',
    'a start answers 503 with Retry-After, reads go on, and what executes is recorded later',
    async () => {
      const gate = createGate()
      await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
      const { id } = await createAgent(app)
      const run = await startRun(app, id, 'call gate {}')
      await gate.arrived(1)
      const other = holdDatabase(app)
      gate.open()
      const execute = new Request('http://localhost:8587/execute', {
        method: 'POST',
        headers: { host: 'localhost:8587', 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id: id, task: 'now?' }),
      })
      const refused = await app.fetch('agents', execute)
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(await refused.json()).toEqual({ error: 'storage unavailable', message: expect.any(String) })
      expect(await readRun(app, run)).toMatchObject({ status: 'running' })
      other.close()
      expect(await endedRun(app, run)).toMatchObject({ status: 'completed', result: 'gate: through', attempts: 1 })
      expect(gate.calls).toHaveLength(1)
      expect(await counts(app)).toEqual([0, 1, 0])
    },
  )
})

describe('a full disk', () => {
  test('starts get 503, reads go on, and with room again runs are accepted and finished without a restart', async () => {
    await using disk = await mountTinyDisk(32 * 1024, 20 * 1024)
    await using service = await startService({ home: disk.path })
    const call = async (method: string, path: string, body?: object) => {
      const json = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
      const response = await fetch(`${service.api}/api/v1${path}`, { method, ...json })
      return { status: response.status, body: (await response.json()) as Body }
    }
    const agent = (await call('POST', '/agents', { name: 'filler', prompt: 'Fill.' })).body.data.id
    const accepted: number[] = []
    const fill = async () => {
      const answer = await call('POST', `/agents/${agent}/run`, { task: 'x'.repeat(100_000) })
      if (answer.status === 202) accepted.push(answer.body.data.run_id)
      return answer.status
    }
    await vi.waitFor(async () => expect(await fill()).toBe(503), { timeout: 20_000, interval: 1 })
    expect(accepted.length).toBeGreaterThan(0)
    expect(await call('GET', `/runs/${accepted[0]}`)).toMatchObject({ status: 200 })
    expect(await call('GET', '/runs')).toMatchObject({ status: 200 })
    await disk.dropBallast()
    await vi.waitFor(async () => expect(await fill()).toBe(202), { timeout: 10_000 })
    await vi.waitFor(async () => {
      const { body } = await call('GET', '/runs?status=running')
      expect(body.pagination.total).toBe(0)
    }, 20_000)
    for (const id of accepted) expect((await call('GET', `/runs/${id}`)).body.data.status).toBe('completed')
  }, 90_000)
})
