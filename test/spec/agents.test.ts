// The agent record over REST: made, read and found.
import { describe, expect } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { createAgent, outcome, refusal, total } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

const names = (data: { name: string }[]) => data.map(({ name }) => name)
const get = async (app: TestApp, path: string) => (await app.api('GET', path)).body.data

/** A second environment, as a sync of its folder makes it. */
async function addEnvironment(app: TestApp, name: string) {
  await app.put(`${name}/agents/.keep`, '')
  await app.api('POST', `/environments/${name}/sync`)
  return get(app, `/environments/${name}`)
}

const FULL = {
  name: 'Full agent_1.0-a',
  description: 'Does all.',
  prompt: 'Greet {{who}}.',
  model: 'openai/gpt-5',
  tools: ['read_file', 'search'],
  notify: true,
  enabled: false,
  max_steps: 3,
  timeout_seconds: 60,
  max_concurrency: 2,
}

describe('creating', () => {
  proves(
    [
      'agents.create',
      'agents.get',
      'agents.record',
      'agents.record-more',
      'agents.environment-fields',
      'agents.source',
    ],
    'answers 201 with the whole record and where it is',
    async () => {
      await using app = await startApp()
      const variables = [{ name: 'who', default: 'you', description: 'Whom to greet' }]
      const answer = await app.api('POST', '/agents', { ...FULL, variables })
      const environment = await get(app, '/environments/default')
      expect(answer.status).toBe(201)
      expect(answer.body.data).toEqual({
        ...FULL,
        id: expect.any(Number),
        environment_id: environment.id,
        environment: 'default',
        variables: [{ ...variables[0], required: false }],
        version: 1,
        source: 'api',
        created_at: expect.any(String),
        updated_at: answer.body.data.created_at,
      })
      const location = answer.headers.get('location')
      expect(location).toBe(`/api/v1/agents/${answer.body.data.id}`)
      expect(await get(app, `/${location}`)).toEqual(answer.body.data)
    },
  )

  proves(
    ['agents.create-required', 'agents.model-null', 'agents.create-default-environment'],
    'needs name and prompt alone',
    async () => {
      await using app = await startApp()
      expect((await app.api('POST', '/agents', { name: 'a', prompt: 'b' })).body.data).toMatchObject({
        ...{ name: 'a', prompt: 'b', description: '', environment: 'default', model: null, tools: null, notify: false },
        ...{ enabled: true, max_steps: 25, timeout_seconds: 900, max_concurrency: null, variables: [] },
      })
      for (const [field, body] of [
        ['prompt', { name: 'b' }],
        ['name', { prompt: 'b' }],
      ] as const) {
        const refused = await app.api('POST', '/agents', body)
        expect(outcome(refused)).toEqual(refusal(400, 'INVALID_REQUEST'))
        expect(refused.body.error.details).toEqual([
          { path: `/${field}`, message: expect.stringContaining('required') },
        ])
      }
    },
  )

  proves('agents.name-form', 'takes names of its form and no other', async () => {
    await using app = await startApp()
    for (const name of ['a', '7', 'A b', 'a_b-c.d', '9.x', 'a'.repeat(64), 'a  b', 'constructor', 'null']) {
      expect(await app.api('POST', '/agents', { name, prompt: 'x' }), name).toMatchObject({ status: 201 })
    }
    const bad = [
      '',
      ' a',
      '_a',
      '-a',
      '.a',
      'a'.repeat(65),
      'a/b',
      'a\\b',
      'ä',
      'a\nb',
      'a\n',
      'a:b',
      '../a',
      'a\u0000',
    ]
    for (const name of bad) {
      expect(await app.api('POST', '/agents', { name, prompt: 'x' }), name).toMatchObject({ status: 400 })
    }
  })

  proves('agents.name-unique', 'refuses a name twice in one environment, not in two', async () => {
    await using app = await startApp()
    const { id: environment_id } = await addEnvironment(app, 'other')
    await createAgent(app, { name: 'twin' })
    expect(outcome(await app.api('POST', '/agents', { name: 'twin', prompt: 'x' }))).toEqual(
      refusal(409, 'AGENT_EXISTS'),
    )
    expect(await createAgent(app, { name: 'twin', environment_id })).toMatchObject({ environment: 'other' })
    expect(await createAgent(app, { name: 'Twin' })).toMatchObject({ name: 'Twin' })
    const { id } = await createAgent(app, { name: 'third' })
    expect(outcome(await app.api('PUT', `/agents/${id}`, { name: 'twin' }))).toEqual(refusal(409, 'AGENT_EXISTS'))
    expect(await get(app, `/agents/${id}`)).toMatchObject({ name: 'third', version: 1 })
  })

  proves('agents.name-unique', 'lets one of two win who come at once', async () => {
    await using app = await startApp()
    const create = () => app.api('POST', '/agents', { name: 'race', prompt: 'x' })
    const answers = await Promise.all(Array.from({ length: 8 }, create))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expect(await total(app)).toBe(1)
  })

  proves(
    ['agents.create-environment', 'agents.environment-fields'],
    'takes the id or the name of an environment',
    async () => {
      await using app = await startApp()
      const { id } = await addEnvironment(app, 'other')
      for (const environment_id of [id, 'other']) {
        const agent = await createAgent(app, { name: `in ${environment_id}`, environment_id })
        expect(agent).toMatchObject({ environment_id: id, environment: 'other' })
      }
      for (const environment_id of ['none', '999', '../other', 'default ', '1e0', '٣']) {
        const refused = await app.api('POST', '/agents', { name: 'lost', prompt: 'x', environment_id })
        expect(outcome(refused), environment_id).toEqual(refusal(404, 'ENVIRONMENT_NOT_FOUND'))
      }
    },
  )

  proves('agents.template-error', 'refuses a prompt that is no template, and says where', async () => {
    await using app = await startApp()
    const { id } = await createAgent(app)
    for (const prompt of ['{{', 'Hello {{name', '{{#a}}open', '{{/a}}', '{{#a}}{{/b}}', '{{a b}}', '{{> partial}}']) {
      const post = await app.api('POST', '/agents', { name: 'broken', prompt })
      const put = await app.api('PUT', `/agents/${id}`, { prompt })
      expect([outcome(post), outcome(put)], prompt).toEqual([
        refusal(400, 'INVALID_REQUEST'),
        refusal(400, 'INVALID_REQUEST'),
      ])
      expect(post.body.error.details, prompt).toEqual([{ path: '/prompt', message: expect.stringMatching(/line 1/i) }])
    }
    expect(await total(app)).toBe(1)
  })

  proves('agents.tools-values', 'keeps null, no tools and named tools apart', async () => {
    await using app = await startApp()
    for (const [index, tools] of [null, [], ['b', 'a']].entries()) {
      const { id } = await createAgent(app, { name: `tools ${index}`, tools })
      expect((await get(app, `/agents/${id}`)).tools).toEqual(tools)
    }
  })

  proves('agents.variables', 'lists the names that the prompt uses, with required and default', async () => {
    await using app = await startApp()
    const prompt = '{{task}} {{plain}} {{with}} {{#section}}{{section}}{{/section}} {{plain}}'
    const variables = [
      { name: 'with', default: 'value' },
      { name: 'unused', default: 'x' },
    ]
    const agent = await createAgent(app, { prompt, variables })
    expect(agent.variables).toEqual([
      { name: 'plain', required: true, default: null, description: null },
      { name: 'with', required: false, default: 'value', description: null },
      { name: 'section', required: false, default: null, description: null },
    ])
  })
})

describe('listing', () => {
  proves(['agents.list', 'agents.list-filters'], 'goes by id and takes environment, enabled and q', async () => {
    await using app = await startApp()
    await addEnvironment(app, 'other')
    await createAgent(app, { name: 'Zeta', description: 'first' })
    await createAgent(app, { name: 'alpha', description: '100% sure_thing', enabled: false })
    await createAgent(app, { name: 'beta', environment_id: 'other', description: 'about ALPHA' })
    const list = async (query: string) => {
      const { body } = await app.api('GET', `/agents${query}`)
      expect(body.pagination.total, query).toBe(body.data.length)
      return names(body.data)
    }
    expect(await list('')).toEqual(['Zeta', 'alpha', 'beta'])
    expect(await list('?environment=default')).toEqual(['Zeta', 'alpha'])
    expect(await list('?environment=none')).toEqual([])
    expect(await list('?enabled=true')).toEqual(['Zeta', 'beta'])
    expect(await list('?enabled=false')).toEqual(['alpha'])
    expect(await list('?q=ALPHA')).toEqual(['alpha', 'beta'])
    expect(await list('?q=alpha&environment=other&enabled=true')).toEqual(['beta'])
    expect(await list('?q=%25')).toEqual(['alpha'])
    expect(await list('?q=_')).toEqual(['alpha'])
    expect(await list('?q=%5C')).toEqual([])
    expect(await list("?q=' OR 1=1 --")).toEqual([])
    for (const value of ['yes', '1', '']) {
      expect(await app.api('GET', `/agents?enabled=${value}`)).toMatchObject({ status: 400 })
    }
  })

  proves('agents.list-filters', 'q finds letters beyond ASCII, in either case', async () => {
    await using app = await startApp()
    await createAgent(app, { description: 'Ärger mit Öl' })
    for (const q of ['Ärger', 'ärger', 'ÖL', 'öl']) {
      expect((await app.api('GET', `/agents?q=${encodeURIComponent(q)}`)).body.data, q).toHaveLength(1)
    }
  })
})
