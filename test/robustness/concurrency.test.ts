// Many at once: nobody is refused for being second, and nothing of anybody's change is lost.
import { expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const put = (app: TestApp, id: number, change: object) => app.api('PUT', `/agents/${id}`, change)

test('fifty changes of one agent at once are fifty versions', async () => {
  await using app = await startApp()
  const { id } = (await app.api('POST', '/agents', { name: 'busy', prompt: 'Hi' })).body.data
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => put(app, id, { description: `change ${index}` })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect((await app.api('GET', `/agents/${id}`)).body.data.version).toBe(51)
})

test('changes of different fields at once all hold, in the database and in a file', async () => {
  await using app = await startApp()
  await app.put('default/agents/filed.prompt', 'Hi')
  await app.api('POST', '/environments/default/sync')
  await app.api('POST', '/agents', { name: 'stored', prompt: 'Hi' })
  const changes = [{ description: 'd' }, { notify: true }, { model: 'm' }, { max_steps: 3 }, { tools: ['t'] }]
  for (const { id } of (await app.api('GET', '/agents')).body.data) {
    const answers = await Promise.all(changes.map((change) => put(app, id, change)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect((await app.api('GET', `/agents/${id}`)).body.data).toMatchObject(Object.assign({}, ...changes))
  }
  const report = await app.api('POST', '/environments/default/sync', { dry_run: true })
  expect(report.body.data).toMatchObject({ updated: [], unchanged: ['filed'] })
})

test('a removal and changes at once end in removal, with nothing but 200 and 404', async () => {
  await using app = await startApp()
  const { id } = (await app.api('POST', '/agents', { name: 'gone', prompt: 'Hi' })).body.data
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, (_, index) => put(app, id, { description: `${index}` })),
    app.api('DELETE', `/agents/${id}`),
    ...Array.from({ length: 10 }, (_, index) => put(app, id, { description: `${index}` })),
  ])
  expect(answers.filter(({ status }) => status !== 200 && status !== 404)).toEqual([])
  expect((await app.api('GET', `/agents/${id}`)).status).toBe(404)
})
