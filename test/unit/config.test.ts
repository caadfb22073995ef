// The configuration in process: what wins, what is refused and in which words, and that no secret is ever said.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { wantsStacks } from '../../src/config/debugging.ts'
import { describeConfig } from '../../src/config/describe.ts'
import { envName, LEAVES } from '../../src/config/leaves.ts'
import { type LoadOptions, loadConfig } from '../../src/config/load.ts'
import { maskUrl } from '../../src/config/mask.ts'
import { ConfigError, problemLine } from '../../src/config/problem.ts'
import { isLoopback, refuseWhatIsNotHereYet } from '../../src/config/rules.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Sources extends Pick<LoadOptions, 'flags' | 'env'> {
  yaml?: string | Uint8Array
}

async function load({ yaml, flags = {}, env = {} }: Sources = {}) {
  await using folder = await temporaryFolder()
  if (yaml !== undefined) await writeFile(join(folder.path, 'config.yaml'), yaml)
  return loadConfig({ flags: { ...flags, home: folder.path }, env, cwd: folder.path })
}

async function problems(sources: Sources): Promise<string[]> {
  const error = await load(sources).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof ConfigError ? error.problems.map(problemLine) : [`no ConfigError: ${error}`]
}

describe('what wins', () => {
  test('without anything the defaults hold', async () => {
    const { config, origins, warnings } = await load()
    expect(config).toMatchObject({
      local_mode: true,
      insecure_no_auth: false,
      api: { port: 8585 },
      mcp: { port: 8586, cancel_on_disconnect: false },
      agent_mcp: { port: 8587, cancel_on_disconnect: true },
      allowed_hosts: [],
      drain_seconds: 20,
      log_level: 'info',
      max_concurrent_runs: 32,
      max_queued_runs: 100_000,
      retention_days: 30,
      webhook: { enabled: true },
      notify: { timeout_seconds: 10, format: 'auto' },
      platform: { enabled: false, tags: [], oauth: { enabled: false, strict_claims: false } },
      ai: { keys: {} },
    })
    expect(config.host).toBeUndefined()
    expect(warnings).toEqual([])
    expect([...origins.values()].every((origin) => origin.kind === 'default')).toBe(true)
  })

  test('a flag beats a variable, a variable beats the file, the file beats the default', async () => {
    const yaml = 'api: { port: 1 }\nmcp: { port: 2 }\nagent_mcp: { port: 3 }\n'
    const env = { SVC_API_PORT: '11', SVC_MCP_PORT: '12' }
    const { config, origins } = await load({ yaml, env, flags: { 'api.port': '21' } })
    expect([config.api.port, config.mcp.port, config.agent_mcp.port]).toEqual([21, 12, 3])
    expect(origins.get('api.port')).toEqual({ kind: 'flag', name: '--api-port' })
    expect(origins.get('mcp.port')).toEqual({ kind: 'env', name: 'SVC_MCP_PORT' })
    expect(origins.get('agent_mcp.port')).toEqual({ kind: 'file', line: 3, column: 14 })
  })

  test('an empty variable is not set, and neither is an empty value or group in the file', async () => {
    const yaml = 'api: { port: 1 }\nai:\nplatform:\n  name: ""\n  url:\n'
    const { config } = await load({ yaml, env: { SVC_API_PORT: '', SVC_HOST: ' ' } })
    expect(config.api.port).toBe(1)
    expect([config.host, config.platform.name, config.platform.url]).toEqual([undefined, undefined, undefined])
  })

  test('variables carry lists by comma and booleans as words', async () => {
    const env = { SVC_ALLOWED_HOSTS: 'a.example, b.example,', SVC_WEBHOOK_ENABLED: 'false', SVC_NOTIFY_TIMEOUT: '3' }
    const { config } = await load({ env })
    expect(config.allowed_hosts).toEqual(['a.example', 'b.example'])
    expect(config.webhook.enabled).toBe(false)
    expect(config.notify.timeout_seconds).toBe(3)
  })

  test('every key has its own variable, named by its path except one', () => {
    expect(new Set(LEAVES.map((leaf) => leaf.env)).size).toBe(LEAVES.length)
    expect(LEAVES.filter((leaf) => leaf.env !== envName(leaf.key)).map((leaf) => leaf.env)).toEqual([
      'SVC_NOTIFY_TIMEOUT',
    ])
    expect(LEAVES.filter((leaf) => leaf.description === '')).toEqual([])
  })

  test('provider keys come from their variables, GEMINI_API_KEY standing in for GOOGLE_API_KEY', async () => {
    const env = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: '', GEMINI_API_KEY: 'g2' }
    expect((await load({ env })).config.ai.keys).toEqual({ openai: 'o', google: 'g2' })
    expect((await load({ env: { ...env, GOOGLE_API_KEY: 'g1' } })).config.ai.keys.google).toBe('g1')
  })

  test('the result is frozen to the bottom', async () => {
    const { config } = await load({ env: { OPENAI_API_KEY: 'o' } })
    for (const part of [config, config.api, config.allowed_hosts, config.platform.oauth, config.ai.keys]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })
})

describe('what is refused', () => {
  test.each<[title: string, sources: Sources, problem: string]>([
    [
      'a misspelt key',
      { yaml: 'agenthost: 1\napi:\n  prot: 1\n' },
      'config.yaml:3:3: unknown key "api.prot"; did you mean api.port?',
    ],
    [
      'a misspelt group',
      { yaml: 'webhok:\n  enabled: true\n' },
      'config.yaml:1:1: unknown key "webhok"; did you mean webhook?',
    ],
    [
      'a key without its group',
      { yaml: 'oauth.client_id: x\n' },
      'config.yaml:1:1: unknown key "oauth.client_id"; did you mean platform.oauth.client_id?',
    ],
    [
      'a dotted key',
      { yaml: 'api.port: 1\n' },
      'config.yaml:1:1: unknown key "api.port"; write its parts below each other',
    ],
    ['a key near to nothing', { yaml: 'xyzzyxyzzy: 1\n' }, 'config.yaml:1:1: unknown key "xyzzyxyzzy"'],
    ['the key __proto__', { yaml: '__proto__: { a: 1 }\n' }, 'config.yaml:1:1: unknown key "__proto__"'],
    [
      'provider keys in the file',
      { yaml: 'ai: { keys: { openai: canary } }\n' },
      'config.yaml:1:7: unknown key "ai.keys"; keys of model providers come from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY)',
    ],
    ['a value in place of a group', { yaml: 'api: 8585\n' }, 'config.yaml:1:1: api must hold further keys: api.port'],
    [
      'a wrong number in the file',
      { yaml: 'api:\n  port: 70000\n' },
      'config.yaml:2:3: api.port must be a whole number from 0 to 65535 (got 70000)',
    ],
    [
      'a wrong number in a variable',
      { env: { SVC_API_PORT: '80a' } },
      'SVC_API_PORT: api.port must be a whole number from 0 to 65535 (got "80a")',
    ],
    [
      'a wrong number in a flag',
      { flags: { 'api.port': '1.5' } },
      '--api-port: api.port must be a whole number from 0 to 65535 (got "1.5")',
    ],
    [
      'another word for true',
      { env: { SVC_LOCAL_MODE: 'yes' } },
      'SVC_LOCAL_MODE: local_mode must be true or false (got "yes")',
    ],
    [
      'an unknown choice',
      { yaml: 'notify: { format: xml }\n' },
      'config.yaml:1:11: notify.format must be one of push, json, auto (got "xml")',
    ],
    [
      'an item that is no text',
      { yaml: 'allowed_hosts: [a, 1]\n' },
      "config.yaml:1:1: allowed_hosts must be text (a value of digits only needs quotes) (got [ 'a', 1 ])",
    ],
    [
      'a URL of another kind',
      { env: { SVC_NOTIFY_WEBHOOK_URL: 'ftp://u:canary@h/' } },
      'SVC_NOTIFY_WEBHOOK_URL: notify.webhook_url must be a URL that starts with http:// or https:// (got "ftp://••••@h/")',
    ],
    [
      'a URL as host',
      { env: { SVC_HOST: 'http://x' } },
      'SVC_HOST: host must be an IP address or a host name (got "http://x")',
    ],
    [
      'a login at a provider',
      { env: { SVC_AI_AUTH_TYPE: 'oauth' } },
      'SVC_AI_AUTH_TYPE: ai.auth_type must be api_key: subscription-based OAuth login for a provider is unavailable; use API keys (got "oauth")',
    ],
    [
      'an empty webhook key in a variable',
      { env: { SVC_WEBHOOK_API_KEY: '' } },
      'SVC_WEBHOOK_API_KEY: webhook.api_key must not be empty; leave it out for none',
    ],
    [
      'an empty webhook key in the file',
      { yaml: 'webhook:\n  api_key: ""\n', env: { SVC_WEBHOOK_API_KEY: 'x' } },
      'config.yaml:2:3: webhook.api_key must not be empty; leave it out for none',
    ],
    [
      'a webhook key without a value',
      { yaml: 'webhook:\n  api_key:\n' },
      'config.yaml:2:3: webhook.api_key must not be empty; leave it out for none',
    ],
    [
      'OAuth in local mode',
      { yaml: 'platform:\n  oauth:\n    enabled: true\n' },
      'config.yaml:3:5: platform.oauth.enabled needs local_mode: false, because local mode has no authentication',
    ],
    [
      'an open address in local mode',
      { env: { SVC_HOST: '0.0.0.0' } },
      'SVC_HOST: host "0.0.0.0" is open to other machines, and local mode has no authentication: leave host out to listen on loopback, or accept the risk with --insecure-no-auth (SVC_INSECURE_NO_AUTH=true)',
    ],
    [
      'another marker',
      { yaml: 'agenthost: 2\n' },
      'config.yaml:1:1: agenthost must be 1, the only format of this file that there is',
    ],
    ['a list as file', { yaml: '- a\n' }, 'config.yaml:1:1: must be keys with values'],
    ['a key twice', { yaml: 'api: { port: 1 }\napi: { port: 2 }\n' }, 'config.yaml:2:1: the same key is there twice'],
    ['a custom tag', { yaml: 'host: !env HOST\n' }, 'config.yaml:1:7: custom tags are not allowed'],
    ['a known tag outside the core', { yaml: 'host: !!binary aGk=\n' }, 'config.yaml:1:7: custom tags are not allowed'],
    ['an alias', { yaml: 'host: &h localhost\nai: { model: *h }\n' }, 'config.yaml:2:14: YAML aliases are not allowed'],
    [
      'a second document',
      { yaml: 'host: ::1\n---\nhost: ::1\n' },
      'config.yaml:2:1: only one YAML document is allowed',
    ],
    ['broken YAML', { yaml: 'webhook:\n  api_key: "canary\n' }, 'config.yaml:3:1: not valid YAML (missing char)'],
    ['a file too large', { yaml: `# ${'x'.repeat(1024 * 1024)}\n` }, 'config.yaml: is larger than 1 MiB'],
    ['a file that is no text', { yaml: new Uint8Array([0x61, 0xff]) }, 'config.yaml: is not UTF-8 text'],
    [
      'another database',
      { env: { SVC_DATABASE_URL: 'mysql://u:canary@h' } },
      'SVC_DATABASE_URL: database_url must be a URL that starts with postgres://',
    ],
  ])('%s is named with its place and what is expected', async (_title, sources, problem) => {
    expect(await problems(sources)).toEqual([problem])
  })

  test('all problems are told at once, also in values that a stronger source hides', async () => {
    const yaml = 'api:\n  port: x\n  nope: 1\nlog_level: loud\nplatform: { oauth: { enabled: true } }\n'
    const env = { SVC_API_PORT: '1', SVC_DRAIN_SECONDS: '-1', SVC_HOST: '::' }
    const places = (await problems({ yaml, env })).map((line) => line.split(': ')[0])
    expect(places.sort()).toEqual([
      'SVC_DRAIN_SECONDS',
      'SVC_HOST',
      'config.yaml:2:3',
      'config.yaml:3:3',
      'config.yaml:4:1',
      'config.yaml:5:22',
    ])
  })

  test('a wrong value gets no second problem from a rule that needs it', async () => {
    const env = { SVC_LOCAL_MODE: 'maybe', SVC_HOST: '0.0.0.0' }
    expect(await problems({ env })).toEqual(['SVC_LOCAL_MODE: local_mode must be true or false (got "maybe")'])
  })

  test('a folder in place of the file is named', async () => {
    await using folder = await temporaryFolder()
    await mkdir(join(folder.path, 'config.yaml'))
    expect(() => loadConfig({ flags: { home: folder.path }, env: {} })).toThrow('config.yaml: is not a file')
  })

  test('deeply nested YAML is refused, not a crash', async () => {
    expect(await problems({ yaml: `host: ${'['.repeat(20_000)}` })).not.toEqual([])
  })
})

describe('addresses', () => {
  test('insecure_no_auth opens any address', async () => {
    const { config } = await load({ env: { SVC_HOST: '0.0.0.0' }, flags: { insecure_no_auth: 'true' } })
    expect(config.host).toBe('0.0.0.0')
  })

  test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('%s is loopback', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  test.each(['0.0.0.0', '::', '192.168.0.1', '127.evil.example', 'localhost.evil.example'])(
    '%s is not loopback',
    (host) => expect(isLoopback(host)).toBe(false),
  )
})

describe('unknown variables', () => {
  test('each gives a warning with the nearest name, and known ones give none', async () => {
    const env = { SVC_HOME: '', SVC_API_URL: 'x', SVC_API_KEY: 'x', SVC_API_PROT: '1', SVC_NOTIFY_TIMEOUT_SECONDS: '1' }
    expect((await load({ env: { ...env, SVC_XYZZYXYZZY: '1', OTHER: '1' } })).warnings).toEqual([
      'unknown variable SVC_API_PROT is ignored; did you mean SVC_API_PORT?',
      'unknown variable SVC_NOTIFY_TIMEOUT_SECONDS is ignored; did you mean SVC_NOTIFY_TIMEOUT?',
      'unknown variable SVC_XYZZYXYZZY is ignored',
    ])
  })
})

describe('secrets', () => {
  const secrets = LEAVES.filter((leaf) => leaf.secret)
  const nested = (path: readonly string[], value: unknown): unknown =>
    path.reduceRight((inner, name) => ({ [name]: inner }), value)

  test('they are the ones of the specification', () => {
    expect(secrets.map((leaf) => leaf.key)).toEqual([
      'database_url',
      'webhook.api_key',
      'notify.api_key',
      'events.secret',
      'platform.registration_key',
      'platform.oauth.introspection_client_secret',
    ])
  })

  test.each(secrets.map((leaf) => [leaf.key, leaf] as const))('%s is masked when right', async (key, leaf) => {
    const value = `${key === 'database_url' ? 'postgres://' : ''}canary`
    const { config, origins } = await load({ env: { [leaf.env]: value } })
    const rows = describeConfig(config, origins)
    expect(rows.find((row) => row.key === key)).toMatchObject({ value: '••••', source: `env ${leaf.env}` })
    expect(JSON.stringify(rows)).not.toContain('canary')
  })

  test.each(secrets.map((leaf) => [leaf.key, leaf] as const))('%s is not said when wrong', async (key, leaf) => {
    const yaml = JSON.stringify(nested(leaf.path, ['canary']))
    const said = await problems({ yaml })
    expect(said).toEqual([expect.stringContaining(key)])
    expect(said.join()).not.toContain('canary')
  })

  test('provider keys are masked', async () => {
    const { config, origins } = await load({ env: { GEMINI_API_KEY: 'canary' } })
    const rows = describeConfig(config, origins)
    expect(rows.find((row) => row.key === 'ai.keys.google')).toMatchObject({
      value: '••••',
      source: 'env GEMINI_API_KEY',
    })
    expect(JSON.stringify(rows)).not.toContain('canary')
  })

  test.each([
    ['https://user:canary@host/path', 'https://••••@host/path'],
    ['https://canary@host', 'https://••••@host'],
    ['https://user:can/ary@canary@host/x', 'https://••••@host/x'],
    ['https://host/x?auth=canary&b=canary#top', 'https://host/x?auth=••••&b=••••#top'],
    ['https://host/plain', 'https://host/plain'],
  ])('%s is shown as %s', (url, shown) => expect(maskUrl(url)).toBe(shown))

  test('broken YAML is not quoted', async () => {
    for (const yaml of [
      'events:\n  secret: |canary\n',
      'events: { secret: canary',
      'events:\n\tsecret: canary\n',
      '%canary\n---\n@canary',
    ]) {
      const said = await problems({ yaml })
      expect(said.join()).toMatch(/^config\.yaml/)
      expect(said.join()).not.toContain('canary')
    }
  })
})

describe('the table', () => {
  test('says the source of each value', async () => {
    const yaml = '# first\nhost: localhost\nplatform:\n  tags: [a, b]\n'
    const { config, origins } = await load({ yaml, env: { SVC_LOG_LEVEL: 'warn' }, flags: { 'api.port': '0' } })
    const rows = new Map(describeConfig(config, origins).map((row) => [row.key, row]))
    expect(rows.get('host')).toMatchObject({ value: 'localhost', source: 'config.yaml:2' })
    expect(rows.get('platform.tags')).toMatchObject({ value: ['a', 'b'], source: 'config.yaml:4' })
    expect(rows.get('log_level')).toMatchObject({ value: 'warn', source: 'env SVC_LOG_LEVEL' })
    expect(rows.get('api.port')).toMatchObject({ value: 0, source: 'flag' })
    expect(rows.get('ai.model')).toMatchObject({ value: null, source: 'default' })
    expect(rows.size).toBe(LEAVES.length + 3)
  })
})

describe('the home', () => {
  test('is --home, then SVC_HOME, then the nearest marked parent, then the data folder', async () => {
    await using folder = await temporaryFolder()
    const deep = join(folder.path, 'marked', 'foreign', 'deep')
    await mkdir(deep, { recursive: true })
    await writeFile(join(folder.path, 'config.yaml'), 'agenthost: 1\n')
    await writeFile(join(folder.path, 'marked', 'config.yaml'), '# mine\r\nagenthost: 1 # yes\r\nhost: localhost\r\n')
    await writeFile(join(folder.path, 'marked', 'foreign', 'config.yaml'), 'agenthosts: 1\nx:\n  agenthost: 1\n')
    const home = (options: LoadOptions) => loadConfig({ cwd: deep, env: {}, ...options }).config.home
    expect(home({ flags: { home: '../here' }, env: { SVC_HOME: '/there' } })).toBe(join(deep, '../here'))
    expect(home({ env: { SVC_HOME: 'there' } })).toBe(join(deep, 'there'))
    expect(home({ env: { SVC_HOME: '' } })).toBe(join(folder.path, 'marked'))
    expect(home({ cwd: '/', env: { XDG_DATA_HOME: '/data' } })).toBe('/data/agenthost')
    expect(home({ cwd: '/', env: { XDG_DATA_HOME: 'relative', HOME: '/h' } })).toBe('/h/.local/share/agenthost')
  })
})

describe('what this version lacks', () => {
  test.each<[env: Record<string, string>, message: string]>([
    [{ SVC_LOCAL_MODE: 'false' }, 'authentication is not part of this version, and it never runs open'],
    [{ SVC_DATABASE_URL: 'postgres://u:canary@h/d' }, 'PostgreSQL is not part of this version'],
  ])('%o loads and is refused by serve', async (env, message) => {
    const { config } = await load({ env })
    expect(() => refuseWhatIsNotHereYet(config)).toThrow(message)
  })
})

test.each<[argv: string[], env: Record<string, string>, wanted: boolean]>([
  [[], {}, false],
  [[], { SVC_LOG_LEVEL: 'debug' }, true],
  [['serve', '--log-level', 'trace'], {}, true],
  [['serve', '--log-level=debug'], {}, true],
  [['serve', '--log-level', 'info'], { SVC_LOG_LEVEL: 'debug' }, false],
])('%j with %o shows stacks: %s', (argv, env, wanted) => expect(wantsStacks(argv, env)).toBe(wanted))
