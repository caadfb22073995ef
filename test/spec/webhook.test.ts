// POST /execute: what it takes, which agent it means, what it answers, and what becomes of the run.
import { describe, expect } from 'vitest'
import { runAccepted, runDetail } from '../../src/contract/run.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, readRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { countRuns, execute, no, said } from '../support/webhook-calls.ts'
import { proves } from './proves.ts'

const TASK = 'Say hello.'

/** An agent of the same name in each of these environments. */
async function createIn(app: TestApp, name: string, environments: string[]): Promise<Record<string, number>> {
  const ids: Record<string, number> = {}
  for (const environment of environments) {
    await app.put(`${environment}/agents/.keep`, '')
    await app.api('POST', `/environments/${environment}/sync`)
    ids[environment] = (await createAgent(app, { name, environment_id: environment })).id
  }
  return ids
}

describe('an accepted call', () => {
  proves(
    ['webhook.accepted', 'webhook.answer', 'webhook.local-open'],
    'answers 202 with exactly the five fields of a run that is there',
    async () => {
      await using app = await startApp()
      const agent = await createAgent(app)
      const { status, headers, body } = await execute(app, { agent_name: 'helper', task: TASK })
      expect(status).toBe(202)
      expect(headers.get('content-type')).toMatch(/^application\/json/)
      expect(Object.keys(body).sort()).toEqual(['agent_id', 'agent_name', 'message', 'run_id', 'status'])
      expect(runAccepted.parse(body)).toMatchObject({ agent_id: agent.id, agent_name: 'helper', status: 'running' })
      expect(body.message).toMatch(/\S/)
      expect(runDetail.parse(await endedRun(app, body.run_id))).toMatchObject({ id: body.run_id, task: TASK })
    },
  )

  proves('webhook.accepted', 'is one run each, however alike the calls are', async () => {
    await using app = await startApp()
    await createAgent(app)
    const calls = Array.from({ length: 20 }, () => execute(app, { agent_name: 'helper', task: TASK }))
    const ids = (await Promise.all(calls)).map(({ body }) => body.run_id)
    expect(new Set(ids).size).toBe(20)
    expect(await countRuns(app)).toBe(20)
  })

  proves(
    'webhook.asynchronous',
    'answers while the agent has hardly begun; the run is read over REST until it ends',
    async () => {
      const gate = createGate()
      await using app = await startApp({}, { tools: toolsFrom([gate.tool]) })
      await createAgent(app)
      const { body } = await execute(app, { agent_name: 'helper', task: 'call gate {}' })
      await gate.arrived(1)
      expect(await readRun(app, body.run_id)).toMatchObject({ status: 'running' })
      gate.open()
      expect(await endedRun(app, body.run_id)).toMatchObject({ status: 'completed', result: 'gate: through' })
    },
  )

  proves('webhook.unknown-fields', 'may carry whatever else an alert tool sends', async () => {
    await using app = await startApp()
    await createAgent(app)
    const more = { receiver: 'x', alerts: [{ status: 'firing' }], timeout_seconds: 'soon', callback_url: 7, source: {} }
    const { status, body } = await execute(app, { agent_name: 'helper', task: TASK, ...more })
    expect(status).toBe(202)
    expect(await endedRun(app, body.run_id)).toMatchObject({ status: 'completed', source: { type: 'webhook' } })
  })

  proves('limits.webhook-none', 'is not counted: 300 in a row are all taken, without a word about limits', async () => {
    await using app = await startApp({}, { idle: true })
    await createAgent(app)
    const answers = []
    for (let call = 0; call < 300; call++) answers.push(await execute(app, { agent_name: 'helper', task: TASK }))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect([...(answers[299]?.headers.keys() ?? [])].filter((name) => /ratelimit|retry-after/.test(name))).toEqual([])
  })
})

describe('the agent', () => {
  proves('webhook.by-name', 'is found by its exact name, case and all', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app, { name: 'Disk Cleaner' })
    expect((await execute(app, { agent_name: 'Disk Cleaner', task: TASK })).body).toMatchObject({ agent_id: id })
    for (const agent_name of ['disk cleaner', 'DISK CLEANER', ' Disk Cleaner', 'Disk Cleaner ', 'Disk', 'Disk%']) {
      expect(said(await execute(app, { agent_name, task: TASK })), agent_name).toEqual(no(404, 'agent not found'))
    }
  })

  proves('webhook.by-id', 'is found by its id, as a number or in decimal digits', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app)
    for (const agent_id of [id, String(id)]) {
      const { status, body } = await execute(app, { agent_id, task: TASK })
      expect({ status, agent: body.agent_id }, typeof agent_id).toEqual({ status: 202, agent: id })
    }
    for (const agent_id of ['0x1', '1.0', '1e0', ' 1', '01', '-1', 'one', -1, 1.5, true, [1], {}, 2 ** 53]) {
      const answer = await execute(app, { agent_id, task: TASK })
      expect(said(answer), JSON.stringify(agent_id)).toEqual(no(400, 'invalid request', /agent_id/))
    }
  })

  proves('webhook.environment-name', 'may be named together with its environment', async () => {
    await using app = await startApp({}, { idle: true })
    const ids = await createIn(app, 'twin', ['one', 'two'])
    for (const environment of ['one', 'two']) {
      const { body } = await execute(app, { agent_name: `${environment}/twin`, task: TASK })
      expect(body).toMatchObject({ agent_id: ids[environment], agent_name: 'twin' })
    }
    for (const agent_name of ['three/twin', 'one/other', 'ONE/twin', '/twin', 'one/']) {
      expect(said(await execute(app, { agent_name, task: TASK })), agent_name).toEqual(no(404, 'agent not found'))
    }
  })

  proves('webhook.bare-name', 'without an environment is that of default, else the only one there is', async () => {
    await using app = await startApp({}, { idle: true })
    const [only] = Object.values(await createIn(app, 'lonely', ['one']))
    expect((await execute(app, { agent_name: 'lonely', task: TASK })).body.agent_id).toBe(only)
    const ids = await createIn(app, 'shared', ['one', 'default', 'two'])
    expect((await execute(app, { agent_name: 'shared', task: TASK })).body.agent_id).toBe(ids.default)
  })

  proves('webhook.ambiguous-name', 'that could be several is 400, and the message lists them', async () => {
    await using app = await startApp({}, { idle: true })
    await createIn(app, 'twin', ['one', 'two'])
    const answer = await execute(app, { agent_name: 'twin', task: TASK })
    expect(said(answer)).toEqual(no(400, 'invalid request', /one\/twin.*two\/twin/))
    expect(await countRuns(app)).toBe(0)
  })

  proves('webhook.agent-not-found', 'that nobody has is 404 `agent not found`', async () => {
    await using app = await startApp()
    await createAgent(app)
    const unknown = [{ agent_name: 'nobody' }, { agent_id: 999 }, { agent_id: '999' }, { agent_name: "' OR 1=1 --" }]
    for (const agent of unknown) {
      const answer = await execute(app, { ...agent, task: TASK })
      expect(said(answer), JSON.stringify(agent)).toEqual(no(404, 'agent not found'))
    }
    expect(await countRuns(app)).toBe(0)
  })

  proves('webhook.disabled-agent', 'that is disabled is 404, and the message says so', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app, { enabled: false })
    for (const agent of [{ agent_name: 'helper' }, { agent_id: id }]) {
      const answer = await execute(app, { ...agent, task: TASK })
      expect(said(answer)).toEqual(no(404, 'agent not found', /disabled/))
    }
    await app.api('PUT', `/agents/${id}`, { enabled: true })
    expect(await execute(app, { agent_id: id, task: TASK })).toMatchObject({ status: 202 })
  })

  proves('webhook.two-agents', 'named twice must be one: 400 if not, and 404 for an unknown id', async () => {
    await using app = await startApp({}, { idle: true })
    const { id } = await createAgent(app)
    const other = await createAgent(app, { name: 'other' })
    const both = async (agent_name: string, agent_id: number) =>
      said(await execute(app, { agent_name, agent_id, task: TASK }))
    expect(await both('helper', id)).toMatchObject({ status: 202, body: { agent_id: id } })
    expect(await both('default/helper', id)).toMatchObject({ status: 202, body: { agent_id: id } })
    expect(await both('helper', other.id)).toEqual(no(400, 'invalid request', /not the same agent/))
    expect(await both('nobody', id)).toEqual(no(400, 'invalid request', /not the same agent/))
    expect(await both('helper', 999)).toEqual(no(404, 'agent not found'))
    expect(await countRuns(app)).toBe(2)
  })
})

describe('the fields', () => {
  proves('webhook.no-agent', 'name an agent; an empty text, 0 and null count as nothing', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const nothing = [{}, { agent_name: '' }, { agent_id: 0 }, { agent_name: null, agent_id: null }, { agent_id: '' }]
    for (const agent of nothing) {
      const answer = await execute(app, { ...agent, task: TASK })
      expect(said(answer), JSON.stringify(agent)).toEqual(no(400, 'invalid request', /agent_name or agent_id/))
    }
    for (const agent of [
      { agent_name: 'helper', agent_id: 0 },
      { agent_name: '', agent_id: id },
      { agent_name: 'helper', agent_id: null },
      { agent_name: null, agent_id: id },
    ]) {
      expect(await execute(app, { ...agent, task: TASK }), JSON.stringify(agent)).toMatchObject({ status: 202 })
    }
  })

  proves('webhook.task-required', 'have a task that is a text with something in it', async () => {
    await using app = await startApp()
    await createAgent(app)
    for (const task of [undefined, '', null, 7, ['x'], { text: 'x' }]) {
      const answer = await execute(app, { agent_name: 'helper', task })
      expect(said(answer), JSON.stringify(task)).toEqual(no(400, 'invalid request', /task/))
    }
    expect(await countRuns(app)).toBe(0)
  })

  proves('webhook.variables', 'have the right types, variables as an object of texts', async () => {
    await using app = await startApp()
    await createAgent(app)
    const wrong: [unknown, RegExp][] = [
      ['a=b', /variables/],
      [['a'], /variables/],
      [null, /variables/],
      [{ a: 1 }, /variables\/a/],
      [{ a: null }, /variables\/a/],
      [{ a: { b: 'c' } }, /variables\/a/],
    ]
    for (const [variables, message] of wrong) {
      const answer = await execute(app, { agent_name: 'helper', task: TASK, variables })
      expect(said(answer), JSON.stringify(variables)).toEqual(no(400, 'invalid request', message))
    }
    for (const agent_name of [7, ['helper'], {}, true]) {
      const answer = await execute(app, { agent_name, task: TASK })
      expect(said(answer), JSON.stringify(agent_name)).toEqual(no(400, 'invalid request', /agent_name/))
    }
    const { body } = await execute(app, { agent_name: 'helper', task: TASK, variables: { a: 'b' } })
    expect(await readRun(app, body.run_id)).toMatchObject({ variables: { a: 'b' } })
  })

  proves(['webhook.variables', 'webhook.task-required'], 'are all named when several are wrong', async () => {
    await using app = await startApp()
    const answer = await execute(app, { variables: { a: 1, b: [] } }, { headers: { 'idempotency-key': '' } })
    for (const named of [
      /agent_name or agent_id/,
      /task is required/,
      /variables\/a/,
      /variables\/b/,
      /Idempotency-Key/,
    ]) {
      expect(said(answer)).toEqual(no(400, 'invalid request', named))
    }
  })

  proves('runs.input-limits', 'are bounded: a task of 256 KiB, a variable of 64 KiB', async () => {
    await using app = await startApp({}, { idle: true })
    await createAgent(app)
    const send = (task: string, a: string) => execute(app, { agent_name: 'helper', task, variables: { a } })
    expect(await send('x'.repeat(256 * 1024), 'y'.repeat(64 * 1024))).toMatchObject({ status: 202 })
    // Bytes, not characters: what is stored is UTF-8.
    expect(said(await send('ä'.repeat(128 * 1024 + 1), 'y'))).toEqual(no(400, 'invalid request', /task.*256 KiB/))
    expect(said(await send('x', 'y'.repeat(64 * 1024 + 1)))).toEqual(no(400, 'invalid request', /variables\/a.*64 KiB/))
  })
})
