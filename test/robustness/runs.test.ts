// What hostile callers, odd providers and broken tools do to runs: each gets an answer, and nobody else notices.
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import type { Tool } from '../../src/contract/tool.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createGate } from '../support/gate.ts'
import { calls, says, startModelServer } from '../support/model-server.ts'
import { createAgent, sendRaw } from '../support/rest-calls.ts'
import { endedRun, readRun, startRun } from '../support/run-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('hostile requests', () => {
  test.for([
    ['a field again and again', '"a":1,'],
    ['numbers that are too large', '"b":1e999,"c":'],
    ['half surrogate pairs', '"\\ud800":1,'],
  ])('%s, deep inside a megabyte, is refused like anything else', async ([, part = '']) => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const open = '{"~/~/~/~/~/~/~/~/~/~/~/~/~/~/~/~/":'.repeat(60)
    const body = `${open}{${part.repeat(Math.floor(900_000 / part.length))}"z":1}${'}'.repeat(60)}`
    const answer = await sendRaw(app, body, undefined, { path: `/agents/${id}/run` })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } })
  })

  test('a task made to keep the offline model searching is answered', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const run = await startRun(app, id, `call a${' '.repeat(200_000)}y\u2028x`)
    expect(await endedRun(app, run)).toMatchObject({ status: 'completed' })
  })

  test('a search for a NUL character is refused, not taken for a search for everything', async () => {
    await using app = await startApp()
    for (const path of ['/runs', '/agents']) expect((await app.api('GET', `${path}?q=%00`)).status).toBe(400)
  })

  test('an Idempotency-Key that a proxy sends twice is the same key', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    const start = async (key: string) =>
      (await app.api('POST', `/agents/${id}/run`, { task: 'once' }, { 'Idempotency-Key': key })).body.data.run_id
    const first = await start('a3')
    expect(await start('a3, a3')).toBe(first)
    expect(await start('a3, a4')).not.toBe(first)
  })
})

describe('the queue bound', () => {
  test('does not refuse what finds a free slot, however many come together', async () => {
    await using app = await startApp({ SVC_MAX_QUEUED_RUNS: '1', SVC_MAX_CONCURRENT_RUNS: '4' })
    const { id } = await createAgent(app)
    const starts = Array.from({ length: 4 }, () => app.api('POST', `/agents/${id}/run`, { task: 'now' }))
    expect((await Promise.all(starts)).map(({ status }) => status)).toEqual([202, 202, 202, 202])
  })
})

describe('odd providers', () => {
  async function answeredBy(reply: Parameters<typeof startModelServer>[0], task = 'Hello.') {
    const server = await startModelServer(reply)
    const app = await startApp({ SVC_AI_BASE_URL: server.url })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, task))
    return {
      run,
      app,
      async [Symbol.asyncDispose]() {
        await app[Symbol.asyncDispose]()
        await server[Symbol.asyncDispose]()
      },
    }
  }

  test('counts of tokens beyond any number stay readable', async () => {
    const usage = { input: 9_007_199_254_740_994, output: 1e300 }
    await using answered = await answeredBy(() => says('Hi.', { usage }))
    expect(answered.run).toMatchObject({ status: 'completed' })
    expect(Number.isSafeInteger(answered.run.usage.total_tokens)).toBe(true)
    expect(await answered.app.api('GET', '/runs')).toMatchObject({ status: 200 })
  })

  test('an answer that was cut off at the output limit says so', async () => {
    await using answered = await answeredBy(() => says('Half of', { finish: 'length' }))
    expect(answered.run).toMatchObject({
      status: 'completed',
      result: 'Half of',
      message: expect.stringContaining('cut off'),
    })
  })

  test.for<[what: string, reply: ReturnType<typeof calls>]>([
    ['a name without end', calls(['n'.repeat(100_000), {}])],
    ['arguments without bottom', calls(['gate', `{"a":${deep(5000)}}`])],
    ['more calls than anybody makes', calls(...Array.from({ length: 200 }, () => ['gate', {}] as const))],
  ])('a tool call with %s is a MODEL_ERROR', async ([, reply]) => {
    await using answered = await answeredBy(() => reply)
    expect(answered.run).toMatchObject({ status: 'error', error: { code: 'MODEL_ERROR' }, tool_calls_count: 0 })
  })
})

describe('odd tools', () => {
  const answering = (output: unknown): Tool => ({
    ...createGate('odd').tool,
    call: async () => ({ output: output as never, is_error: false }),
  })

  async function runWith(tool: Tool, check: (app: TestApp, id: number) => Promise<void>) {
    await using app = await startApp({}, { tools: toolsFrom([tool]) })
    const { id } = await createAgent(app)
    const run = await startRun(app, id, 'call odd {}')
    expect(await endedRun(app, run)).toMatchObject({ status: 'completed' })
    await check(app, run)
  }

  test.for<[what: string, output: unknown]>([
    ['nothing at all', undefined],
    ['a number that is none', Number.NaN],
    ['JSON without bottom', JSON.parse(deep(5000))],
    ['field names with backslashes', { '\\': 1, '"': 2, '\n': 3 }],
    ['characters that no text has', 'a\0b\ud800'],
    ['twenty megabytes', 'x'.repeat(20_000_000)],
  ])('a tool that answers %s leaves a run that can be read', async ([, output]) => {
    await runWith(answering(output), async (app, id) => {
      expect(await app.api('GET', `/runs/${id}`)).toMatchObject({ status: 200 })
      expect(JSON.stringify(await readRun(app, id)).length).toBeLessThan(3_000_000)
    })
  })

  test('a tool that throws something else than an error is an answer to the model', async () => {
    const tool: Tool = { ...createGate('odd').tool, call: () => Promise.reject('no error at all') }
    await runWith(tool, async (app, id) => {
      expect((await readRun(app, id)).steps[1]).toMatchObject({ status: 'error', error: expect.any(String) })
    })
  })
})

describe('a journal that cannot be read', () => {
  test('ends its run, and says nothing of the inside', async () => {
    const around = (store: TestApp['store']): TestApp['store'] => ({
      ...store,
      async write(name, input) {
        const value = await store.write(name, input)
        if (name !== 'claimRun') return value
        const claim = structuredClone(value) as { run: { steps: { status: string; output: string }[] } }
        for (const step of claim.run.steps) Object.assign(step, { status: 'completed', output: '{broken' })
        return claim as typeof value
      },
    })
    await using app = await startApp({}, { around })
    const { id } = await createAgent(app)
    const run = await endedRun(app, await startRun(app, id, 'Hello.'))
    expect(run).toMatchObject({ status: 'error', error: { code: 'INTERNAL_ERROR' } })
    expect(JSON.stringify(run)).not.toContain('broken')
  })
})

describe('settings that can never work', () => {
  const load = (env: Record<string, string>) => () => loadConfig({ flags: { home: '/nonexistent' }, env, cwd: '/' })

  test('a model address with a password and a webhook key with blanks are refused at start', () => {
    expect(load({ SVC_AI_BASE_URL: 'http://user:secret@localhost/v1' })).toThrow(/ai.base_url.*user name or password/)
    expect(load({ SVC_AI_BASE_URL: 'http://user:secret@localhost/v1' })).not.toThrow(/secret@/)
    expect(load({ SVC_WEBHOOK_API_KEY: 'abc ' })).toThrow(/webhook.api_key.*blanks/)
  })
})
