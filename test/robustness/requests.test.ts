// Odd but legal requests are understood; ambiguous ones are refused.
import { expect, test } from 'vitest'
import { agenthost } from '../support/agenthost.ts'
import { startApp } from '../support/app.ts'
import { sendRaw } from '../support/rest-calls.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('parameters of the media type do not matter, unless they name another charset', async () => {
  await using app = await startApp()
  const send = async (type: string, name: string) =>
    (await sendRaw(app, JSON.stringify({ name, prompt: 'Hi' }), { 'content-type': type })).status
  expect(await send('application/json;', 'a')).toBe(201)
  expect(await send('Application/JSON; charset="UTF-8"; v=1', 'b')).toBe(201)
  expect(await send('application/json; charset=latin1', 'c')).toBe(415)
  expect(await send('application/json, text/plain', 'd')).toBe(415)
})

test('a body without a media type is 415 before it is too large', async () => {
  await using app = await startApp()
  const path = '/environments/default/sync'
  expect((await sendRaw(app, new Uint8Array(2_000_000), {}, { path })).status).toBe(415)
  expect((await app.api('POST', path)).status).toBe(200)
})

test('the pages for people answer 405 to other methods', async () => {
  await using app = await startApp()
  for (const path of ['//docs', '//']) {
    const answer = await app.api('POST', path, {})
    expect(answer).toMatchObject({ status: 405, body: { error: { code: 'METHOD_NOT_ALLOWED' } } })
    expect(answer.headers.get('allow')).toBe('GET, HEAD')
  }
})

test.for([
  [[{ name: 'a' }, { name: 'a', default: 'x' }], 'must not have a name twice'],
  [[{ name: 'task' }], 'task is the task of the run'],
] as const)('variables %j are refused', async ([variables, problem]) => {
  await using app = await startApp()
  const answer = await app.api('POST', '/agents', { name: 'x', prompt: '{{a}}', variables })
  expect(answer.body.error.details).toEqual([{ path: '/variables', message: problem }])
})

test('two listeners on one port are a mistake in the configuration', async () => {
  await using folder = await temporaryFolder()
  const env = { SVC_API_PORT: '18585', SVC_MCP_PORT: '18585' }
  const { code, stderr } = await agenthost(['config', '--home', folder.path], { env })
  expect(code).toBe(2)
  expect(stderr).toContain('mcp.port and api.port are both 18585')
})
