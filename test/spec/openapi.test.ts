// The API document: served bare, linted, exactly the routes of the app, and true about what is taken and answered.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import fc from 'fast-check'
import type { Hono } from 'hono'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { wire } from '../../src/app.ts'
import { systemClock } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { VERSION } from '../../src/version.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent } from '../support/rest-calls.ts'
import { toolsFrom } from '../support/tools-from.ts'
import { proves } from './proves.ts'

interface Schema {
  $ref?: string
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  anyOf?: Schema[]
  required?: string[]
  properties: Record<string, Schema>
  additionalProperties?: boolean
}

interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: string; required: boolean }[]
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>
}

interface Document {
  openapi: string
  info: { version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const document = async (app: TestApp): Promise<Document> => (await app.api('GET', '/openapi.json')).body
const docs = () => readFile(join(import.meta.dirname, '../../docs/api.md'), 'utf8')

describe('openapi.json', () => {
  proves(['openapi.served', 'openapi.bare', 'openapi.version'], 'is a bare OpenAPI 3.1 document', async () => {
    await using app = await startApp()
    const { status, headers, body } = await app.api('GET', '/openapi.json')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body).toMatchObject({ openapi: expect.stringMatching(/^3\.1\.\d+$/), info: { version: VERSION } })
    expect(Object.keys(body)).not.toContain('success')
    expect(body.servers).toEqual([{ url: '/' }])
  })

  proves(['openapi.served', 'running.public-url'], 'names the public address and never the Host', async () => {
    await using app = await startApp({ SVC_PUBLIC_URL_API: 'https://api.example.test' })
    const { body } = await app.api('GET', '/openapi.json', undefined, { host: '127.0.0.1:1' })
    expect(body.servers).toEqual([{ url: 'https://api.example.test' }])
    expect(JSON.stringify(body)).not.toContain('127.0.0.1')
  })

  proves('openapi.lints', 'lints without an error', async () => {
    await using app = await startApp()
    const source = JSON.stringify(await document(app))
    const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
    const errors = problems.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  proves('openapi.lints', 'has a component behind every reference, and none that is only itself', async () => {
    await using app = await startApp()
    const whole = await document(app)
    const { schemas } = whole.components
    const names = [...JSON.stringify(whole).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref as string)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((ref) => !schemas[ref.replace('#/components/schemas/', '')])).toEqual([])
    expect(Object.entries(schemas).filter(([, schema]) => schema.$ref)).toEqual([])
  })

  proves('openapi.exact-routes', 'holds exactly the routes of the running app', async () => {
    await using app = await startApp()
    const { config } = loadConfig({ flags: { home: app.home }, env: {}, cwd: app.home })
    const { api } = wire({
      config,
      log: createLog('silent'),
      store: app.store,
      tools: toolsFrom([]),
      clock: systemClock,
    })
    const served = (api as Hono).routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/v1'))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    const described = Object.entries((await document(app)).paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.sort()).toEqual([...new Set(served)].sort())
    expect(described.length).toBeGreaterThan(5)
  })

  proves('openapi.exact-routes', 'describes each path parameter and names each operation once', async () => {
    await using app = await startApp()
    const all = Object.entries((await document(app)).paths).flatMap(([path, operations]) =>
      Object.values(operations).map((operation) => ({ path, operation })),
    )
    for (const { path, operation } of all) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const given = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(
        given.map(({ name }) => name),
        path,
      ).toEqual(wanted)
      expect(
        given.every(({ required }) => required),
        path,
      ).toBe(true)
      expect(operation.summary, path).toMatch(/\S/)
    }
    const ids = all.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

/** The document's schema of an answer as something that checks. */
function checker({ paths, components }: Document, path: string, method: string, status: number) {
  const schema = paths[path]?.[method]?.responses[status]?.content['application/json'].schema
  expect(schema, `${method} ${path} ${status} is described`).toBeDefined()
  const text = JSON.stringify({ ...schema, $defs: components.schemas })
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
}

describe('what the document says', () => {
  proves('openapi.same-schemas', 'holds for every answer, good and bad', async () => {
    await using app = await startApp()
    const whole = await document(app)
    await app.put('default/agents/filed.prompt', '---\nvariables: { a: b }\n---\n{{a}} {{c}}')
    await app.put('default/agents/bad.prompt', '{{')
    const P = '/api/v1'
    const calls: [method: string, template: string, path: string, status: number, body?: unknown][] = [
      ['post', '/agents', '/agents', 201, { name: 'made', prompt: '{{x}}', tools: ['a'], model: 'm' }],
      ['post', '/agents', '/agents', 409, { name: 'made', prompt: 'x' }],
      ['post', '/agents', '/agents', 400, { name: '', prompt: 1 }],
      ['post', '/agents', '/agents', 404, { name: 'other', prompt: 'x', environment_id: 'none' }],
      ['post', '/environments/{name}/sync', '/environments/default/sync', 200],
      ['put', '/agents/{id}', '/agents/1', 200, { description: 'x' }],
      ['put', '/agents/{id}', '/agents/99', 404, {}],
      ['get', '/health', '/health', 200],
      ['get', '/agents', '/agents', 200],
      ['get', '/agents', '/agents?page=0', 400],
      ['get', '/agents/{id}', '/agents/1', 200],
      ['get', '/agents/{id}', '/agents/x', 400],
      ['get', '/agents/{id}', '/agents/99', 404],
      ['get', '/agents/{id}/versions', '/agents/1/versions', 200],
      ['get', '/agents/{id}/versions/{v}', '/agents/1/versions/2', 200],
      ['get', '/agents/{id}/versions/{v}', '/agents/1/versions/9', 404],
      ['get', '/environments', '/environments', 200],
      ['get', '/environments/{name}', '/environments/default', 200],
      ['get', '/environments/{name}', '/environments/none', 404],
      ['get', '/openapi.json', '/openapi.json', 200],
      ['delete', '/agents/{id}', '/agents/1', 200],
    ]
    for (const [method, template, path, status, sent] of calls) {
      const answer = await app.api(method.toUpperCase(), path, sent)
      expect(answer.status, `${method} ${path}`).toBe(status)
      const { error } = checker(whole, P + template, method, status).safeParse(answer.body)
      expect(error?.issues, `${method} ${path}`).toBeUndefined()
    }
  })

  proves('openapi.same-schemas', 'an agent must not have is refused, and what it may have is taken', async () => {
    await using app = await startApp()
    const { AgentCreate, AgentUpdate } = (await document(app)).components.schemas as Record<string, Schema>
    const { id } = await createAgent(app)
    let next = 0
    const post = async (fields: object) =>
      (await app.api('POST', '/agents', { name: `agent ${next++}`, prompt: 'x', ...fields })).status
    const put = async (fields: object) => (await app.api('PUT', `/agents/${id}`, fields)).status
    expect(AgentCreate?.required).toEqual(['name', 'prompt'])
    expect(AgentUpdate?.required ?? []).toEqual([])
    for (const [schema, send, done] of [
      [AgentCreate, post, 201],
      [AgentUpdate, put, 200],
    ] as const) {
      expect(schema?.additionalProperties).toBe(false)
      expect(await send({ unheard_of: 1 })).toBe(400)
      for (const [field, description] of Object.entries(schema?.properties ?? {})) {
        for (const { maxLength, minimum, maximum, maxItems } of [description, ...(description.anyOf ?? [])]) {
          // Names and environments have their own form; variables their own schema.
          if (maxLength && !['name', 'environment_id'].includes(field)) {
            expect(await send({ [field]: 'x'.repeat(maxLength) }), field).toBe(done)
            expect(await send({ [field]: 'x'.repeat(maxLength + 1) }), field).toBe(400)
          }
          if (minimum !== undefined && maximum !== undefined) {
            expect([await send({ [field]: minimum }), await send({ [field]: maximum })], field).toEqual([done, done])
            expect([await send({ [field]: minimum - 1 }), await send({ [field]: maximum + 1 })], field).toEqual([
              400, 400,
            ])
          }
          if (maxItems && field === 'tools') {
            expect(await send({ tools: Array(maxItems).fill('t') })).toBe(done)
            expect(await send({ tools: Array(maxItems + 1).fill('t') })).toBe(400)
          }
        }
      }
    }
  })

  proves('openapi.same-schemas', 'any name of the pattern is taken, and no other', async () => {
    await using app = await startApp()
    const { AgentCreate } = (await document(app)).components.schemas
    const written = AgentCreate?.properties?.name?.pattern ?? ''
    expect(written).toMatch(/^\^.+\$$/)
    const pattern = new RegExp(written)
    const taken = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.stringMatching(pattern), fc.string({ maxLength: 70 })), async (name) => {
        const { status } = await app.api('POST', '/agents', { name, prompt: 'x' })
        expect(status).toBe(taken.has(name) ? 409 : pattern.test(name) ? 201 : 400)
        if (status === 201) taken.add(name)
      }),
      { numRuns: 150, examples: [['a '], ['a'], ['a\n']] },
    )
  })
})

describe('the page at /docs', () => {
  proves('docs.page', 'shows every operation to people', async () => {
    await using app = await startApp()
    const { status, headers, body } = await app.api('GET', '//docs')
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: expect.stringMatching(/^text\/html/),
    })
    for (const [path, operations] of Object.entries((await document(app)).paths)) {
      expect(body).toContain(path)
      for (const { operationId } of Object.values(operations)) expect(body).toContain(operationId)
    }
  })

  proves('docs.no-outside-requests', 'names no other address and forbids all of them', async () => {
    await using app = await startApp()
    const { headers, body } = await app.api('GET', '//docs')
    expect(body).not.toMatch(/(?:src|href|action)=["']?(?:https?:)?\/\//i)
    expect(body).not.toMatch(/@import|url\(|<(?:script|iframe|img|link|object|embed)\b/i)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  })
})

describe('docs/api.md', () => {
  proves('versioning.additions', 'promises what stays', async () => {
    const text = (await docs()).replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/\/api\/v1`?[^.]*only additions|only additions[^.]*\/api\/v1/i)
    expect(text).toMatch(/breaking change[^.]*\/api\/v2/i)
    expect(text).toMatch(/`?Deprecation`?[^.]*`?Sunset`?/)
    expect(text).toMatch(/ignore fields (?:that )?they do not know/i)
  })

  proves('versioning.no-clients', 'says that client libraries are not yet released', async () => {
    const sentence = /[^.]*not yet released/i.exec((await docs()).replaceAll(/\s+/g, ' '))?.[0] ?? ''
    for (const language of ['Python', 'TypeScript', 'Go']) expect(sentence).toContain(language)
  })
})
