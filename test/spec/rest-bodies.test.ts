// What a body may be: its media type, its size, its syntax, its fields; and in which order that is looked at.
import { describe, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { createAgent, JSON_TYPE, outcome, refusal, sendRaw, total } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const MIB = 1024 * 1024
const GOOD = JSON.stringify({ name: 'good', prompt: 'Help.' })

/** A body that arrives in pieces and does not say how long it is. */
function stream(pieces: number, bytes: number): ReadableStream<Uint8Array> {
  let left = pieces
  return new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(bytes).fill(32))
      else controller.close()
    },
  })
}

describe('media types', () => {
  const refused: Record<string, string>[] = [
    {},
    { 'content-type': '' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'text/plain;charset=UTF-8' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/json garbage' },
    { 'content-type': 'application/jsonx' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'text/plain; application/json' },
    { 'content-type': 'application/json, text/plain' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ]

  proves('rest.json-only', 'anything but JSON is 415 and does nothing', async () => {
    await using app = await startApp()
    for (const headers of refused) {
      const answer = await sendRaw(app, GOOD, headers)
      expect(outcome(answer), JSON.stringify(headers)).toEqual(refusal(415, 'UNSUPPORTED_MEDIA_TYPE'))
    }
    expect(await total(app)).toBe(0)
  })

  proves('rest.json-only', 'JSON is known in every spelling of its name', async () => {
    await using app = await startApp()
    const types = [
      'application/json',
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ]
    for (const [index, type] of types.entries()) {
      const body = JSON.stringify({ name: `agent ${index}`, prompt: 'x' })
      expect(await sendRaw(app, body, { 'content-type': type }), type).toMatchObject({ status: 201 })
    }
  })

  proves('rest.json-only', 'a route whose body is optional refuses one that is not JSON', async () => {
    await using app = await startApp()
    const path = '/environments/default/sync'
    const answer = await sendRaw(
      app,
      'dry_run=true',
      { 'content-type': 'text/plain', 'content-length': '12' },
      { path },
    )
    expect(outcome(answer)).toEqual(refusal(415, 'UNSUPPORTED_MEDIA_TYPE'))
  })
})

describe('size', () => {
  proves('rest.body-limit', 'one byte over 1 MiB is 413, whether announced or not', async () => {
    await using app = await startApp()
    const tooLarge = ' '.repeat(MIB + 1)
    const announced = { ...JSON_TYPE, 'content-length': String(MIB + 1) }
    expect(outcome(await sendRaw(app, tooLarge, announced))).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE'))
    expect(outcome(await sendRaw(app, tooLarge))).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE'))
    expect(outcome(await sendRaw(app, stream(17, 65_536)))).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE'))
    expect(outcome(await sendRaw(app, stream(10_000_000, 65_536)))).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE'))
  })

  proves('rest.body-limit', 'exactly 1 MiB is read', async () => {
    await using app = await startApp()
    expect(await sendRaw(app, GOOD.padEnd(MIB))).toMatchObject({ status: 201 })
  })
})

describe('syntax', () => {
  const malformed: [what: string, body: string][] = [
    ['empty', ''],
    ['blank', '  \n '],
    ['broken', '{"name": "a", "prompt"'],
    ['words', 'name=a'],
    ['two values', `${GOOD}${GOOD}`],
    ['a byte order mark', `\uFEFF${GOOD}`],
    ['a comment', '{"name": "a", /* b */ "prompt": "c"}'],
    ['a line comment', '{"name": "a", "prompt": "c"} // d'],
    ['a trailing comma', '{"name": "a", "prompt": "c",}'],
    ['a trailing comma in a list', '{"name": "a", "prompt": "c", "tools": ["d",]}'],
    ['single quotes', "{'name': 'a', 'prompt': 'c'}"],
    ['bare names', '{name: "a", prompt: "c"}'],
    ['a raw line break in text', '{"name": "a", "prompt": "c\nd"}'],
    ['NaN', '{"name": "a", "prompt": "c", "max_steps": NaN}'],
    ['a hexadecimal number', '{"name": "a", "prompt": "c", "max_steps": 0x10}'],
    ['a leading zero', '{"name": "a", "prompt": "c", "max_steps": 010}'],
    ['1e400', '{"name": "a", "prompt": "c", "max_steps": 1e400}'],
    ['a key twice', '{"name": "a", "name": "b", "prompt": "c"}'],
    ['a key twice, once escaped', '{"name": "a", "n\\u0061me": "b", "prompt": "c"}'],
    ['a key twice inside', '{"name": "a", "prompt": "c", "variables": [{"name": "x", "name": "y"}]}'],
    ['__proto__', '{"name": "a", "prompt": "c", "__proto__": {"polluted": true}}'],
    ['__proto__ inside', '{"name": "a", "prompt": "c", "variables": [{"name": "x", "__proto__": {"polluted": true}}]}'],
    ['constructor', '{"name": "a", "prompt": "c", "constructor": {"prototype": {"polluted": true}}}'],
    ['NUL', '{"name": "a", "prompt": "c\\u0000"}'],
    ['NUL in a key', '{"name": "a", "prompt": "c", "d\\u0000": 1}'],
    ['half a surrogate pair', '{"name": "a", "prompt": "c\\ud83d"}'],
    ['1000 levels of lists', '['.repeat(1000) + ']'.repeat(1000)],
    ['1000 levels of objects', `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`],
    ['half a million lists', '['.repeat(500_000)],
    ['a hundred thousand objects', '{"a":'.repeat(100_000)],
    ['null', 'null'],
    ['a list', '[]'],
    ['a number', '1'],
    ['a text', '"name"'],
  ]

  proves('rest.malformed-json', 'a body that is no plain JSON object is 400 and creates nothing', async () => {
    await using app = await startApp()
    for (const [what, body] of malformed) {
      expect.soft(outcome(await sendRaw(app, body)), what).toEqual(refusal(400, 'INVALID_REQUEST'))
    }
    expect(await total(app)).toBe(0)
    expect('polluted' in {}).toBe(false)
  })

  proves('rest.malformed-json', 'broken JSON and text that is not UTF-8 are 400', async () => {
    await using app = await startApp()
    expect(outcome(await sendRaw(app, '{"name": '))).toEqual(refusal(400, 'INVALID_REQUEST'))
    const latin1 = Uint8Array.from(Buffer.from('{"name": "é", "prompt": "x"}', 'latin1'))
    expect(outcome(await sendRaw(app, latin1))).toEqual(refusal(400, 'INVALID_REQUEST'))
  })
})

describe('fields', () => {
  proves('rest.unknown-field', 'a field that is not known is named', async () => {
    await using app = await startApp()
    const answer = await app.api('POST', '/agents', { name: 'a', prompt: 'b', promt: 'c', id: 7 })
    expect(outcome(answer)).toEqual(refusal(400, 'INVALID_REQUEST'))
    expect(answer.body.error.details.map(({ path }: { path: string }) => path).sort()).toEqual(['/id', '/promt'])
    expect(answer.body.error.message).toContain('promt')
    const sync = await app.api('POST', '/environments/default/sync', { dryRun: true })
    expect(outcome(sync)).toEqual(refusal(400, 'INVALID_REQUEST'))
    expect(sync.body.error.message).toContain('dryRun')
  })

  const mistyped: [field: string, values: unknown[]][] = [
    ['name', [null, 1, '', ' a', 'a/b', 'a'.repeat(65), ['a'], {}]],
    ['prompt', [null, 1, '', [], 'x'.repeat(262_145)]],
    ['description', [null, 1, 'x'.repeat(4097)]],
    ['environment_id', [null, 1, '', 'x'.repeat(65)]],
    ['model', [1, '', 'x'.repeat(201)]],
    ['tools', ['a', {}, [1], [''], [null], Array(1001).fill('a')]],
    ['notify', [null, 'true', 1]],
    ['enabled', [null, 'false', 0]],
    ['max_steps', [null, '1', 0, -1, 1.5, 1001]],
    ['timeout_seconds', [null, '1', 0, 86_401]],
    ['max_concurrency', ['1', 0, 0.5, 10_001]],
    ['variables', [null, {}, ['a'], [{}], [{ name: '1a' }], [{ name: 'a', default: 1 }], [{ name: 'a', x: 1 }]]],
  ]

  proves(['rest.error-details'], 'a wrong value is 400 with a JSON Pointer to it, in POST and PUT', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    for (const [field, values] of mistyped) {
      for (const value of values) {
        const what = `${field}: ${JSON.stringify(value)?.slice(0, 40)}`
        const post = await app.api('POST', '/agents', { name: 'other', prompt: 'x', [field]: value })
        const put = await app.api('PUT', `/agents/${id}`, { [field]: value })
        for (const answer of [post, put]) {
          expect(outcome(answer), what).toEqual(refusal(400, 'INVALID_REQUEST'))
          for (const { path, message } of answer.body.error.details) {
            expect(path, what).toMatch(new RegExp(`^/${field}(/|$)`))
            expect(message).toMatch(/\S/)
          }
        }
      }
    }
    expect((await app.api('GET', `/agents/${id}`)).body.data).toMatchObject({ version: 1 })
    expect(await total(app)).toBe(1)
  })

  proves('rest.error-details', 'everything that is wrong is said at once, with escaped pointers', async () => {
    await using app = await startApp()
    const variables = [{ name: 'ok' }, { name: '1' }]
    const body = { prompt: 1, max_steps: 'x', tools: ['a', 2], variables, 'a/b~c': 1 }
    const { error } = (await app.api('POST', '/agents', body)).body
    expect(error.details.map(({ path }: { path: string }) => path).sort()).toEqual(
      ['/a~1b~0c', '/max_steps', '/name', '/prompt', '/tools/1', '/variables/1/name'].sort(),
    )
    expect(error.details).toContainEqual({ path: '/name', message: 'is required' })
  })

  test('an error answer stays small whatever was sent', async () => {
    await using app = await startApp()
    const unknown = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`field${index}`, 1]))
    for (const body of [{ [`k${'x'.repeat(900_000)}`]: 1 }, unknown, { tools: Array(1000).fill(1) }]) {
      const answer = await app.api('POST', '/agents', body)
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.body).length).toBeLessThan(65_536)
    }
  })

  proves('rest.get-edit-put', 'a record that was read, edited and sent back is taken', async () => {
    await using app = await startApp()
    const prompt = 'Greet {{who}} in {{language}}.'
    const { id } = await createAgent(app, { prompt, variables: [{ name: 'language', default: 'English' }] })
    const record = (await app.api('GET', `/agents/${id}`)).body.data
    const readOnly = { id: 99, version: 99, source: 'file', environment: 'x', created_at: 'x', updated_at: null }
    expect(await app.api('PUT', `/agents/${id}`, record)).toMatchObject({ status: 200, body: { data: record } })
    const { body } = await app.api('PUT', `/agents/${id}`, { ...record, ...readOnly, description: 'edited' })
    expect(body.data).toEqual({ ...record, description: 'edited', version: 2, updated_at: body.data.updated_at })
  })
})

proves('rest.body-before-record', 'path, method, media type, size, body, record: in this order', async () => {
  await using app = await startApp()
  const put = (body: string, headers: Record<string, string>, path = '/agents/999') =>
    sendRaw(app, body, headers, { method: 'PUT', path })
  const tooLarge = ' '.repeat(MIB + 1)
  const text = { 'content-type': 'text/plain' }
  expect(outcome(await put(tooLarge, text, '/nowhere'))).toEqual(refusal(404, 'NOT_FOUND'))
  expect(outcome(await put(tooLarge, text, '/agents'))).toEqual(refusal(405, 'METHOD_NOT_ALLOWED'))
  expect(outcome(await put(tooLarge, text))).toEqual(refusal(415, 'UNSUPPORTED_MEDIA_TYPE'))
  expect(outcome(await put(tooLarge, JSON_TYPE))).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE'))
  expect(outcome(await put('{', JSON_TYPE))).toEqual(refusal(400, 'INVALID_REQUEST'))
  expect(outcome(await put('{"max_steps": 0}', JSON_TYPE))).toEqual(refusal(400, 'INVALID_REQUEST'))
  expect(outcome(await put('{}', JSON_TYPE))).toEqual(refusal(404, 'AGENT_NOT_FOUND'))
})

proves('rest.body-before-record', 'a broken template is a wrong body, said before a record is missed', async () => {
  await using app = await startApp()
  const put = await app.api('PUT', '/agents/999', { prompt: '{{' })
  const post = await app.api('POST', '/agents', { name: 'a', prompt: '{{', environment_id: 'none' })
  expect([outcome(put), outcome(post)]).toEqual([refusal(400, 'INVALID_REQUEST'), refusal(400, 'INVALID_REQUEST')])
})
