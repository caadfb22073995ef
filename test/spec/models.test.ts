// Which model answers an agent, at which address and with which key; and that failures which may pass are repeated.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { createModels, type ModelsParts } from '../../src/models/create.ts'
import { ModelFailure, type Models } from '../../src/models/models.ts'
import { chooseProvider } from '../../src/models/select.ts'
import { agenthost } from '../support/agenthost.ts'
import { calls, callsWith, fails, type ModelServer, resets, says, startModelServer } from '../support/model-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

type Env = Readonly<Record<string, string>>

/** As the service reads it: from variables and a home folder. */
async function configured(env: Env, yaml = '') {
  await using home = await temporaryFolder()
  await writeFile(join(home.path, 'config.yaml'), yaml)
  return loadConfig({ flags: { home: home.path }, env, cwd: home.path }).config.ai
}

async function modelsFor(env: Env, parts: Omit<ModelsParts, 'ai'> = {}): Promise<Models> {
  return createModels({ ai: await configured(env), backoff: { base_ms: 1, cap_ms: 50 }, ...parts })
}

const ask = (models: Models, model: string | null = null, tools = [ADD]) =>
  models.turn({
    ...{ model: models.nameFor(model), tools, signal: new AbortController().signal },
    messages: [
      { role: 'system', content: 'You add.' },
      { role: 'user', content: 'Add 1 and 2' },
    ],
  })

const ADD = { name: 'add', description: 'Adds numbers', input_schema: { type: 'object', properties: { a: {} } } }

const failureOf = (turn: Promise<unknown>): Promise<ModelFailure> =>
  turn.then(
    () => Promise.reject(new Error('the turn succeeded')),
    (error: unknown) => (error instanceof ModelFailure ? error : Promise.reject(error)),
  )

describe('who answers', () => {
  proves('models.provider-selected', 'SVC_AI_PROVIDER selects the provider, whatever keys there are', async () => {
    const keys = { OPENAI_API_KEY: 'sk-o', ANTHROPIC_API_KEY: 'sk-a', GOOGLE_API_KEY: 'sk-g' }
    for (const provider of ['openai', 'anthropic', 'google', 'openai-compatible', 'offline']) {
      const env = { ...keys, SVC_AI_PROVIDER: provider }
      expect(chooseProvider(await configured(env))).toEqual({ provider, offline: provider === 'offline' })
      expect((await modelsFor(env)).nameFor(null).split('/')[0]).toBe(provider)
    }
  })

  proves(
    'models.provider-order',
    'of several keys openai comes before anthropic, and anthropic before google',
    async () => {
      const [openai, anthropic, google] = [{ OPENAI_API_KEY: 'o' }, { ANTHROPIC_API_KEY: 'a' }, { GOOGLE_API_KEY: 'g' }]
      const chosen = async (env: Env) => (await modelsFor(env)).nameFor(null).split('/')[0]
      expect(await chosen({ ...google, ...anthropic, ...openai })).toBe('openai')
      expect(await chosen({ ...google, ...anthropic })).toBe('anthropic')
      expect(await chosen(google)).toBe('google')
      expect(await chosen({})).toBe('offline')
    },
  )

  proves('models.default-model', 'each provider has a default model, and SVC_AI_MODEL names another', async () => {
    const nameIn = async (env: Env) => (await modelsFor(env)).nameFor(null)
    expect(await nameIn({ OPENAI_API_KEY: 'k' })).toBe('openai/gpt-6.1-sol')
    expect(await nameIn({ ANTHROPIC_API_KEY: 'k' })).toBe('anthropic/claude-sonnet-5-5')
    expect(await nameIn({ GOOGLE_API_KEY: 'k' })).toBe('google/gemini-3.8-flash')
    expect(await nameIn({ SVC_AI_BASE_URL: 'http://localhost/v1' })).toBe('openai-compatible/default')
    expect(await nameIn({ ANTHROPIC_API_KEY: 'k', SVC_AI_MODEL: 'claude-opus-5' })).toBe('anthropic/claude-opus-5')
    expect(await nameIn({ OPENAI_API_KEY: 'k', SVC_AI_MODEL: 'google/gemini-x' })).toBe('google/gemini-x')
    const market = { SVC_AI_BASE_URL: 'http://localhost/v1', SVC_AI_MODEL: 'openai/gpt-5' }
    expect(await nameIn(market)).toBe('openai-compatible/openai/gpt-5')
    await using server = await startModelServer([says('Hello')])
    await ask(await modelsFor({ SVC_AI_BASE_URL: server.url, SVC_AI_MODEL: 'llama' }))
    expect(server.requests[0]?.body.model).toBe('llama')
  })

  proves('models.agent-model', 'the model of an agent is provider/model, or a bare model of the provider', async () => {
    const { nameFor } = await modelsFor({ ANTHROPIC_API_KEY: 'k' })
    expect(nameFor('openai/gpt-5')).toBe('openai/gpt-5')
    expect(nameFor('openai-compatible/meta-llama/x')).toBe('openai-compatible/meta-llama/x')
    expect(nameFor('claude-opus-5')).toBe('anthropic/claude-opus-5')
    expect(nameFor('meta-llama/x')).toBe('anthropic/meta-llama/x')
    expect(nameFor('openai/')).toBe('anthropic/openai/')
    expect([nameFor('offline'), nameFor('offline/any')]).toEqual(['offline', 'offline'])
    const unconfigured = await modelsFor({})
    expect(unconfigured.nameFor('claude-opus-5')).toBe('offline')
    expect(unconfigured.nameFor('anthropic/claude-opus-5')).toBe('anthropic/claude-opus-5')
  })
})

describe('credentials', () => {
  proves(
    'models.auth-type-first',
    'SVC_AI_AUTH_TYPE decides before any key, and api_key goes on to the keys',
    async () => {
      await using server = await startModelServer(() => says('Hello'))
      const env = { OPENAI_API_KEY: 'sk-o', SVC_AI_BASE_URL: server.url }
      await ask(await modelsFor({ ...env, SVC_AI_AUTH_TYPE: 'api_key' }))
      await ask(await modelsFor(env))
      expect(server.requests.map((request) => request.headers.authorization)).toEqual(['Bearer sk-o', 'Bearer sk-o'])
      await expect(configured({ ...env, SVC_AI_AUTH_TYPE: 'oauth' })).rejects.toThrow('ai.auth_type must be api_key')
    },
  )

  proves('models.auth-type-other', 'another SVC_AI_AUTH_TYPE stops the start and says to use API keys', async () => {
    await using home = await temporaryFolder()
    const env = { SVC_AI_AUTH_TYPE: 'subscription', OPENAI_API_KEY: 'sk-o' }
    const { code, stderr } = await agenthost(['serve', '--home', home.path], { env })
    expect(code).toBe(2)
    expect(stderr).toContain('subscription-based OAuth login for a provider is unavailable; use API keys')
  })

  test('a missing key is named by its variable, and nothing is sent', async () => {
    const models = await modelsFor({}, { fetch: () => Promise.reject(new Error('somebody sent something')) })
    const messages = await Promise.all(
      ['openai/gpt-5', 'anthropic/claude', 'google/gemini'].map(
        async (model) => (await failureOf(ask(models, model))).message,
      ),
    )
    expect(messages).toEqual([
      'openai/gpt-5 has no key: set OPENAI_API_KEY',
      'anthropic/claude has no key: set ANTHROPIC_API_KEY',
      'google/gemini has no key: set GOOGLE_API_KEY',
    ])
    expect((await failureOf(ask(models, 'openai-compatible/x'))).message).toBe(
      'openai-compatible/x has no address: set SVC_AI_BASE_URL',
    )
  })
})

describe('an address of its own', () => {
  proves(
    'models.base-url',
    'with SVC_AI_BASE_URL chat-completions are spoken there, with or without a key',
    async () => {
      await using server = await startModelServer([calls(['add', { a: 1 }]), says('3'), says('3'), says('3')])
      const base = { SVC_AI_BASE_URL: server.url }
      const turn = await ask(await modelsFor(base))
      expect(turn).toMatchObject({ calls: [{ id: 'call_add', name: 'add', input: { a: 1 } }], finish: 'tool-calls' })
      expect((await ask(await modelsFor({ ...base, OPENAI_API_KEY: 'sk-o' }))).text).toBe('3')
      const anthropic = await modelsFor({ ...base, SVC_AI_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'sk-a' })
      expect((await ask(anthropic)).text).toBe('3')
      const compatible = await modelsFor({ ...base, SVC_AI_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'sk-a' })
      expect((await ask(compatible, 'openai-compatible/local')).text).toBe('3')
      expect(server.requests.map(({ path, headers, body }) => [path, headers.authorization, body.model])).toEqual([
        ['/v1/chat/completions', undefined, 'default'],
        ['/v1/chat/completions', 'Bearer sk-o', 'default'],
        ['/v1/chat/completions', 'Bearer sk-a', 'claude-sonnet-5-5'],
        ['/v1/chat/completions', undefined, 'local'],
      ])
      expect(server.requests[0]?.body).toMatchObject({
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: 'You add.' },
          { role: 'user', content: 'Add 1 and 2' },
        ],
        tools: [{ type: 'function', function: { name: 'add', parameters: ADD.input_schema } }],
      })
    },
  )

  test('tokens are counted as the provider reports them, and cost what the operator says', async () => {
    await using server = await startModelServer([callsWith({ usage: { input: 2000, output: 100 } }, ['add'])])
    const env = { SVC_AI_BASE_URL: server.url, SVC_AI_PRICES: '{"default":{"input":3,"output":10}}' }
    const turn = await ask(await modelsFor(env))
    expect(turn.usage).toEqual({ input_tokens: 2000, output_tokens: 100 })
    expect(turn.cost_usd).toBeCloseTo(0.007)
  })

  test('an agent that names another provider goes to that provider and not to the address', async () => {
    await using server = await startModelServer()
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push(String(url))
      return Response.json({ error: { message: 'no' } }, { status: 400 })
    }
    const models = await modelsFor({ SVC_AI_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-a' }, { fetch })
    await failureOf(ask(models, 'anthropic/claude-opus-5'))
    expect(asked).toEqual(['https://api.anthropic.com/v1/messages'])
  })
})

describe('failures that may pass', () => {
  const at = (server: ModelServer, parts = {}) => modelsFor({ SVC_AI_BASE_URL: server.url }, parts)

  proves(
    'engine.model-retry',
    '429, 5xx and network failures are repeated within the turn until it answers',
    async () => {
      await using server = await startModelServer([fails(429), fails(500), fails(529), resets(), says('At last')])
      const turn = await ask(await at(server))
      expect(turn).toMatchObject({ text: 'At last', attempts: 5 })
      expect(server.requests).toHaveLength(5)
    },
  )

  proves(
    'engine.model-retry',
    'Retry-After is waited for, in milliseconds, seconds or up to a date, and never beyond the cap',
    async () => {
      const soon = new Date(Date.now() + 3_600_000).toUTCString()
      await using server = await startModelServer([
        fails(429, { headers: { 'retry-after-ms': '120' } }),
        fails(503, { headers: { 'retry-after': '3600' } }),
        fails(503, { headers: { 'retry-after': soon } }),
        says('At last'),
      ])
      const turn = await ask(await at(server, { backoff: { base_ms: 0, cap_ms: 150 } }))
      expect(turn.attempts).toBe(4)
      const times = server.requests.map((request) => request.at)
      const waited = (request: number) => (times[request] ?? 0) - (times[request - 1] ?? 0)
      // Timers may fire a millisecond early.
      expect(waited(1)).toBeGreaterThan(118)
      expect(Math.min(waited(2), waited(3))).toBeGreaterThan(148)
    },
  )

  proves('engine.model-retry', 'after five attempts the turn fails and says what happened and what to do', async () => {
    await using server = await startModelServer(() => fails(503, { body: { error: { message: 'overloaded' } } }))
    const failure = await failureOf(ask(await at(server)))
    expect(failure.attempts).toBe(5)
    expect(failure.message).toBe(
      `openai-compatible at ${server.url} failed (503), tried 5 times: try again later. Details: overloaded`,
    )
    expect(server.requests).toHaveLength(5)
  })
})
