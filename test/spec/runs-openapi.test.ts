// What the API document says about runs, held against what is answered.
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { type Answer, startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { endedRun, startRun } from '../support/run-calls.ts'
import { proves } from './proves.ts'

interface Operation {
  parameters: { name: string; in: string; required: boolean }[]
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: object }
}

const document = async (app: TestApp): Promise<Document> => (await app.api('GET', '/openapi.json')).body

/** What is wrong with an answer by the document; undefined when nothing is. */
function problemsOf({ paths, components }: Document, template: string, method: string, { status, body }: Answer) {
  const described = paths[`/api/v1${template}`]?.[method]?.responses[status]?.content['application/json']
  expect(described, `${method} ${template} ${status} is described`).toBeDefined()
  const text = JSON.stringify({ ...described?.schema, $defs: components.schemas })
  const schema = z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
  return schema.safeParse(body).error?.issues
}

describe('the document', () => {
  proves('openapi.same-schemas', 'is true about every answer about runs, good and bad', async () => {
    await using app = await startApp({ SVC_MAX_QUEUED_RUNS: '1', SVC_MAX_CONCURRENT_RUNS: '1' })
    const whole = await document(app)
    const { id } = await createAgent(app)
    const done = await endedRun(app, await startRun(app, id, 'Say hello.'))
    const start = `/agents/${id}/run`
    const key = { 'idempotency-key': 'k' }
    const calls: [method: string, template: string, path: string, status: number, body?: object, headers?: object][] = [
      ['post', '/agents/{id}/run', `${start}?wait=20`, 200, { task: 'Say hello.' }],
      ['post', '/agents/{id}/run', start, 202, { task: 'Again.' }, key],
      ['post', '/agents/{id}/run', start, 422, { task: 'Another.' }, key],
      ['post', '/agents/{id}/run', start, 400, { task: 7 }],
      ['post', '/agents/{id}/run', '/agents/999/run', 404, { task: 'x' }],
      ['get', '/runs', '/runs?status=failed', 200],
      ['get', '/runs', '/runs?since=x', 400],
      ['get', '/runs/{id}', `/runs/${done.id}`, 200],
      ['get', '/runs/{id}', '/runs/999', 404],
      ['post', '/runs/{id}/cancel', `/runs/${done.id}/cancel`, 409],
      ['post', '/runs/{id}/cancel', '/runs/999/cancel', 404],
      ['get', '/runs/{id}/events', '/runs/999/events', 404],
      ['get', '/runs/{id}/events', '/runs/x/events', 400],
    ]
    for (const [method, template, path, status, body, headers] of calls) {
      const answer = await app.api(method.toUpperCase(), path, body, { ...headers })
      expect(answer.status, `${method} ${path}`).toBe(status)
      expect(problemsOf(whole, template, method, answer), `${method} ${path}`).toBeUndefined()
    }
    const slow = await startRun(app, id, 'sleep 60000')
    const cancelled = await app.api('POST', `/runs/${slow}/cancel`)
    expect(cancelled.status).toBe(202)
    expect(problemsOf(whole, '/runs/{id}/cancel', 'post', cancelled)).toBeUndefined()
  })

  proves('openapi.same-schemas', 'names the statuses, headers and media types of runs', async () => {
    await using app = await startApp({}, { idle: true })
    const { paths } = await document(app)
    const start = paths['/api/v1/agents/{id}/run']?.post as Operation
    expect(Object.keys(start.responses)).toEqual(expect.arrayContaining(['200', '202', '404', '422', '429']))
    expect(start.responses['429']?.description).toContain('QUEUE_FULL')
    expect(start.parameters).toContainEqual(
      expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: false }),
    )
    expect(start.parameters).toContainEqual(expect.objectContaining({ name: 'wait', in: 'query', required: false }))
    const events = paths['/api/v1/runs/{id}/events']?.get as Operation
    expect(Object.keys(events.responses['200']?.content ?? {})).toEqual(['text/event-stream'])
    expect(events.parameters).toContainEqual(expect.objectContaining({ name: 'Last-Event-ID', in: 'header' }))
    const cancel = paths['/api/v1/runs/{id}/cancel']?.post as Operation
    expect(cancel.responses['409']?.description).toContain('RUN_ALREADY_FINISHED')
  })
})
