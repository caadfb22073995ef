// Tool servers that mean harm, over stdio: whatever they write, the service goes on answering, others notice nothing, and
// no secret comes back out of it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ToolRecord } from '../../src/contract/tool-record.ts'
import { repeatPolicy } from '../../src/tools/repeat-policy.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type AttackedService, slowestAnswerDuring, startAttackedService } from '../support/hostile/attacked-service.ts'
import { hostileEntry, nestedPieces } from '../support/hostile/entries.ts'
import { readPids } from '../support/misbehaving/pids.ts'
import { serverFile } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'

/** Far from what is usual, and far from what a blocked service would take. */
const PATIENCE_MS = 5_000
const KEYS = 500_000
const OK = { output: 'ok', is_error: false }
const NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'

describe('a service with a server that floods its output with', () => {
  const LINES = { words: 'x', objects: '{}', nothing: '' }
  let service: AttackedService
  beforeAll(async () => {
    service = await startAttackedService()
    const floods = Object.keys(LINES).map((name) => [name, hostileEntry()])
    await service.serve({ ...Object.fromEntries(floods), good: hostileEntry() })
  })
  afterAll(() => service[Symbol.asyncDispose]())

  test.for(Object.entries(LINES))('%s (%j) answers, and gives the server up', async ([name, line]) => {
    const call = service.call(name, 'flood', { line })
    const others = Promise.all([call, service.call('good', 'ok')])
    expect(await slowestAnswerDuring(service, others)).toBeLessThan(PATIENCE_MS)
    const [flooding, good] = await others
    expect(flooding).toEqual({ output: expect.stringContaining('floods its output'), is_error: true })
    expect(good).toEqual(OK)
    expect(await service.call(name, 'ok')).toEqual(OK)
  })
})

describe('a service with a server that never stops talking', () => {
  test('answers, calls others, and ends in order', async () => {
    await using service = await startAttackedService()
    await service.serve({ bad: hostileEntry(), good: hostileEntry() })
    const call = service.call('bad', 'flood', { line: NOTICE }).catch(() => undefined)
    const others = service.call('good', 'ok')
    expect(await slowestAnswerDuring(service, others)).toBeLessThan(PATIENCE_MS)
    expect(await others).toEqual(OK)
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await call
  })
})

describe('a service with a server that', () => {
  let service: AttackedService
  beforeAll(async () => {
    service = await startAttackedService()
    await service.serve({ bad: hostileEntry() })
  })
  afterAll(() => service[Symbol.asyncDispose]())

  const nested = nestedPieces(4_000_000)
  const end: [string, number] = ['}}\n', 1]
  const answer: [string, number] = [
    '{"jsonrpc":"2.0","id":<id>,"result":{"content":[{"type":"text","text":"ok"}]}}\n',
    1,
  ]
  const result = (field: string): [string, number] => [
    `{"jsonrpc":"2.0","id":<id>,"result":{"content":[{"type":"text","text":"ok"}],"${field}":`,
    1,
  ]
  const notice: [string, number] = [NOTICE.slice(0, NOTICE.indexOf('"x"')), 1]
  const spacedNotice: [string, number] = [notice[0].replace('{', '{ '), 1]

  test.for<[what: string, tool: string, input: object, isError?: boolean]>([
    ['answers with _meta of 8 MB', 'write', { pieces: [result('_meta'), ['{"x":"', 1], ['x', 8e6], ['"}', 1], end] }],
    ['answers with _meta nested millions deep', 'write', { pieces: [result('_meta'), ...nested, end] }, true],
    ['says something of 8 MB', 'write', { pieces: [notice, ['"', 1], ['x', 8e6], ['"', 1], end, answer] }],
    ['says something nested millions deep', 'write', { pieces: [notice, ...nested, end, answer] }],
    ['says that in unusual spelling', 'write', { pieces: [spacedNotice, ...nested, end, answer] }],
  ])('%s answers meanwhile', async ([, tool, input, is_error = false]) => {
    const call = service.call('bad', tool, input)
    expect(await slowestAnswerDuring(service, call)).toBeLessThan(PATIENCE_MS)
    expect(await call).toMatchObject({ is_error })
    expect(await service.call('bad', 'ok')).toEqual(OK)
  })

  const manyKeys = JSON.stringify(Object.fromEntries(Array.from({ length: KEYS }, (_, index) => [`k${index}`, index])))
  /** How long somebody with one processor takes who does nothing but to read it. */
  function readingMs(): number {
    const before = performance.now()
    JSON.parse(manyKeys)
    return performance.now() - before
  }

  // What is in the result is walked through, masked and sent; anything else is read at most.
  test.for<[what: string, tool: string, where: string, mostReadings: number]>([
    ['answers with 500,000 keys', 'keys', 'structuredContent', 20],
    ['answers with 500,000 keys beside the result', 'keys', '_meta', 4],
    ['says something of 500,000 keys', 'notice', '', 4],
  ])('%s keeps nobody waiting for long', async ([, tool, where, mostReadings]) => {
    const before = readingMs()
    const call = service.call('bad', tool, { count: KEYS, where })
    const slowest = await slowestAnswerDuring(service, call)
    expect(slowest).toBeLessThan(mostReadings * Math.max(before, readingMs()))
    expect(await call).toMatchObject({ is_error: false })
  })

  test('says 10,000 things in a call is not given up', async () => {
    for (let time = 0; time < 3; time++) expect(await service.call('bad', 'chat', { times: 10_000 })).toEqual(OK)
    expect(await service.server('bad')).toMatchObject({ status: 'up', error: null })
  })
})

/** The hostile server in the default environment of an app, and its tools by name. */
async function serve(app: TestApp, entry: object) {
  await app.put('default/servers.json', serverFile({ bad: entry }))
  const { errors } = (await app.api('POST', '/environments/default/sync')).body.data
  const tools: ToolRecord[] = (await app.api('GET', '/tools?limit=100')).body.data
  const call = async (tool: string, input: object) => {
    const id = tools.find(({ name }) => name === tool)?.id
    return (await app.api('POST', `/tools/${id}/call`, { arguments: input })).body.data
  }
  return { errors, tools, call }
}

describe('a healthy server that gets too much at once', () => {
  const CALLS = 60
  const large = { text: 'x'.repeat(900_000) }
  const BUSY = { output: 'the server is busy: 32 MiB are waiting for it to read them', is_error: true }

  /** Calls it while it reads nothing, until the first calls are turned away. */
  async function overwhelm(app: TestApp) {
    const pids = join(app.home, 'pids')
    const awake = join(app.home, 'awake')
    const { call } = await serve(app, hostileEntry('', { PIDS: pids }))
    const first = call('hold', { file: awake })
    const answers: unknown[] = []
    const burst = Promise.all(
      Array.from({ length: CALLS }, () => call('ok', large).then((answer) => answers.push(answer))),
    )
    await until('some are turned away', () => answers.length > 0)
    return { call, first, burst, answers, wake: () => writeFile(awake, ''), starts: () => readPids(pids).length }
  }

  test('turns some calls away, answers the others, and is not started anew', async () => {
    await using app = await startApp()
    const { call, first, burst, answers, wake, starts } = await overwhelm(app)
    expect(answers[0]).toEqual(BUSY)
    await wake()
    await burst
    expect(await first).toEqual(OK)
    expect(answers.filter((answer) => JSON.stringify(answer) !== JSON.stringify(BUSY)).length).toBeGreaterThan(30)
    for (const answer of answers) expect([OK, BUSY]).toContainEqual(answer)
    expect(await call('ok', large)).toEqual(OK)
    expect(starts()).toBe(1)
  })

  test('is started anew when it has read nothing for ten seconds', async () => {
    await using app = await startApp()
    const { call, first, burst, answers, starts } = await overwhelm(app)
    const later = performance.now.bind(performance)
    using clock = vi.spyOn(performance, 'now').mockImplementation(() => later() + 11_000)
    expect(await call('ok', large)).toEqual(OK)
    expect(starts()).toBe(2)
    expect(clock).toHaveBeenCalled()
    await burst
    expect(await first).toMatchObject({ is_error: true })
    expect(answers).toHaveLength(CALLS)
  })
})

describe('a secret that a server was given', () => {
  const SECRET = 'Tr0ub4dor+Secret/Value=9'
  const NUMBER = 918_273_645_546
  const VARIABLES = `SECRET: "${SECRET}"\nNUMBER: ${NUMBER}\n`
  const confided = (list: string) => hostileEntry(list, { S: '${SECRET}', N: '${NUMBER}' })

  test('is in nothing that its tools say about themselves', async () => {
    await using app = await startApp()
    await app.put('default/variables.yml', VARIABLES)
    const { tools } = await serve(app, confided('secret-definitions'))
    expect(tools).toMatchObject([
      {
        name: 'go',
        description: 'uses ••••',
        input_schema: { type: 'object', description: '••••', properties: { '••••': { default: '••••' } } },
        annotations: { title: '••••' },
      },
    ])
    const servers = (await app.api('GET', '/mcp-servers')).body
    expect(servers.data[0].error).toContain('tools with a secret in their names were left out')
    expect(JSON.stringify([tools, servers])).not.toContain(SECRET)
  })

  test('is in no answer and in no error', async () => {
    await using app = await startApp()
    await app.put('default/variables.yml', VARIABLES)
    const { call } = await serve(app, confided(''))
    const coloured = `${SECRET.slice(0, 5)}\u001b[0m${SECRET.slice(5)}`
    expect(await call('answer', { error: { code: 1, message: `no ${coloured}!`, data: SECRET } })).toEqual({
      output: 'the server answered with error 1: no ••••!',
      is_error: true,
    })
    const structuredContent = { n: NUMBER, list: [NUMBER, 7], [SECRET]: 1 }
    expect(await call('answer', { result: { content: [], structuredContent } })).toEqual({
      output: { n: '••••', list: ['••••', 7], '••••': 1 },
      is_error: false,
    })
  })

  test('is not shown in its arguments', async () => {
    await using app = await startApp()
    const entry = { command: 'x', args: ['-u', 'bob:hunter7x', '--user', 'bob:hunter8x', 'y'], disabled: true }
    await serve(app, entry)
    expect((await app.api('GET', '/mcp-servers')).body.data).toMatchObject([
      { args: ['-u', 'bob:••••', '--user', 'bob:••••', 'y'] },
    ])
  })
})

describe('a server that cannot be started', () => {
  test.for<[entry: object, message: string]>([
    [{ command: './no/such-command' }, "the command './no/such-command' was not found"],
    [{ command: 'no-such-command' }, "the command 'no-such-command' was not found"],
    [{ command: 'node', cwd: 'no-such-folder' }, 'the folder that it is to run in (cwd) does not exist'],
  ])('%j is named as its file has it', async ([entry, message]) => {
    await using app = await startApp()
    const { errors } = await serve(app, entry)
    expect(errors).toEqual([expect.objectContaining({ server: 'bad', message: expect.stringContaining(message) })])
    expect(JSON.stringify(errors)).not.toContain(app.home)
  })

  test('because its greeting is rubbish is described in words', async () => {
    await using app = await startApp()
    const { errors } = await serve(app, hostileEntry('rubbish-greeting'))
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/the answer cannot be understood$/) }),
    ])
  })
})

test('a hint that is no true is not believed, even of a trusted server', () => {
  for (const hint of ['yes', 'true', 1, {}, []]) {
    expect(repeatPolicy({ trusted: true }, { readOnlyHint: hint, idempotentHint: hint })).toBe('never')
  }
  expect(repeatPolicy({ trusted: true }, { readOnlyHint: true })).toBe('safe')
})
