// The rules of the configuration, seen through `agenthost config` in a process of its own.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { agenthost, type RunOptions } from '../support/agenthost.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proves } from './proves.ts'

const answer = z.object({
  home: z.string(),
  values: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string(), description: z.string() })),
})

interface Setting extends RunOptions {
  yaml?: string
  flags?: string[]
}

/** The resolved values by key, as `agenthost config --json` says them. */
async function resolved(setting: Setting) {
  const { code, stdout, stderr } = await run('config', setting, ['--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const values = answer.parse(JSON.parse(stdout)).values
  return (key: string) => values.find((row) => row.key === key)
}

async function run(command: string, { yaml, flags = [], ...options }: Setting, more: string[] = []) {
  await using home = await temporaryFolder()
  if (yaml !== undefined) await writeFile(join(home.path, 'config.yaml'), yaml)
  return await agenthost([command, '--home', home.path, ...flags, ...more], options)
}

proves('config.precedence', 'a flag beats SVC_*, which beats config.yaml, which beats the default', async () => {
  const yaml = 'api: { port: 1 }\nmcp: { port: 2 }\nagent_mcp:\n  port: 3\n'
  const row = await resolved({ yaml, env: { SVC_API_PORT: '11', SVC_MCP_PORT: '12' }, flags: ['--api-port', '21'] })
  expect(row('api.port')).toMatchObject({ value: 21, source: 'flag' })
  expect(row('mcp.port')).toMatchObject({ value: 12, source: 'env SVC_MCP_PORT' })
  expect(row('agent_mcp.port')).toMatchObject({ value: 3, source: 'config.yaml:4' })
  expect(row('drain_seconds')).toMatchObject({ value: 20, source: 'default' })
})

proves(
  ['config.env-names', 'config.notify-timeout-name', 'config.lists-by-comma', 'config.empty-is-unset'],
  'variables are named by the path of the key, lists go by comma, an empty one is not set',
  async () => {
    const row = await resolved({
      yaml: 'api: { port: 1 }\n',
      env: {
        SVC_PLATFORM_OAUTH_CLIENT_ID: 'client',
        SVC_NOTIFY_TIMEOUT: '7',
        SVC_PLATFORM_TAGS: 'eu, blue',
        SVC_API_PORT: '',
      },
    })
    expect(row('platform.oauth.client_id')).toMatchObject({ value: 'client' })
    expect(row('notify.timeout_seconds')).toMatchObject({ value: 7, source: 'env SVC_NOTIFY_TIMEOUT' })
    expect(row('platform.tags')?.value).toEqual(['eu', 'blue'])
    expect(row('api.port')).toMatchObject({ value: 1, source: 'config.yaml:1' })
  },
)

proves('config.empty-webhook-key', 'an empty webhook key stops the start', async () => {
  const byVariable = await run('serve', { env: { SVC_WEBHOOK_API_KEY: '' } })
  expect(byVariable).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('SVC_WEBHOOK_API_KEY') })
  const byFile = await run('serve', { yaml: 'webhook:\n  api_key: ""\n' })
  expect(byFile).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('config.yaml:2:3') })
})

proves(
  ['config.wrong-value', 'config.unknown-key'],
  'every mistake in config.yaml is a line on stderr with key, place and advice, and the exit code is 2',
  async () => {
    const yaml = 'agenthost: 1\napi:\n  prot: 1\nmcp:\n  port: many\n'
    const { code, stdout, stderr } = await run('serve', { yaml })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/config\.yaml:3:3: unknown key "api\.prot"; did you mean api\.port\?$/)
    expect(lines[1]).toMatch(/config\.yaml:5:3: mcp\.port must be a whole number from 0 to 65535 \(got "many"\)$/)
  },
)

proves('config.unknown-env', 'an unknown SVC_* variable is a warning with the nearest name', async () => {
  const { code, stdout, stderr } = await run('config', { env: { SVC_API_PROT: '1' } })
  expect(code).toBe(0)
  expect(stdout).toContain('api.port')
  expect(stderr).toBe('agenthost: unknown variable SVC_API_PROT is ignored; did you mean SVC_API_PORT?\n')
})

proves(
  [
    'config.webhook-enabled',
    'config.webhook-api-key',
    'config.notify-webhook-url',
    'config.notify-api-key',
    'config.notify-timeout',
    'config.notify-format',
    'modes.local-default',
  ],
  'the defaults are those of the specification',
  async () => {
    const row = await resolved({})
    expect(row('webhook.enabled')?.value).toBe(true)
    expect(row('webhook.api_key')?.value).toBe(null)
    expect(row('notify.webhook_url')?.value).toBe(null)
    expect(row('notify.api_key')?.value).toBe(null)
    expect(row('notify.timeout_seconds')?.value).toBe(10)
    expect(row('notify.format')?.value).toBe('auto')
    expect(row('local_mode')?.value).toBe(true)
  },
)

proves(
  [
    'config.webhook-enabled',
    'config.webhook-api-key',
    'config.notify-webhook-url',
    'config.notify-api-key',
    'config.notify-format',
    'config.platform',
    'config.platform-oauth',
    'config.ai-provider',
    'config.ai-auth-type',
    'config.ai-model',
    'config.address-keys',
  ],
  'the keys of the specification are taken from their variables',
  async () => {
    const given = {
      SVC_WEBHOOK_ENABLED: ['webhook.enabled', 'false', false],
      SVC_WEBHOOK_API_KEY: ['webhook.api_key', 'canary', '••••'],
      SVC_NOTIFY_WEBHOOK_URL: ['notify.webhook_url', 'https://n.example/t', 'https://n.example/t'],
      SVC_NOTIFY_API_KEY: ['notify.api_key', 'canary', '••••'],
      SVC_NOTIFY_FORMAT: ['notify.format', 'push', 'push'],
      SVC_PLATFORM_ENABLED: ['platform.enabled', 'true', true],
      SVC_PLATFORM_REGISTRATION_KEY: ['platform.registration_key', 'canary', '••••'],
      SVC_PLATFORM_NAME: ['platform.name', 'one', 'one'],
      SVC_PLATFORM_TAGS: ['platform.tags', 'a,b', ['a', 'b']],
      SVC_LOCAL_MODE: ['local_mode', 'false', false],
      SVC_PLATFORM_OAUTH_ENABLED: ['platform.oauth.enabled', 'true', true],
      SVC_PLATFORM_OAUTH_CLIENT_ID: ['platform.oauth.client_id', 'c', 'c'],
      SVC_AI_PROVIDER: ['ai.provider', 'openai-compatible', 'openai-compatible'],
      SVC_AI_AUTH_TYPE: ['ai.auth_type', 'api_key', 'api_key'],
      SVC_AI_MODEL: ['ai.model', 'm', 'm'],
      SVC_AI_BASE_URL: ['ai.base_url', 'http://localhost:1/v1', 'http://localhost:1/v1'],
      SVC_PUBLIC_URL_API: ['public_url.api', 'https://a.example', 'https://a.example'],
      SVC_PUBLIC_URL_MCP: ['public_url.mcp', 'https://b.example', 'https://b.example'],
      SVC_PUBLIC_URL_AGENTS: ['public_url.agents', 'https://c.example', 'https://c.example'],
      SVC_ALLOWED_HOSTS: ['allowed_hosts', 'a.example', ['a.example']],
      SVC_ALLOWED_ORIGINS: ['allowed_origins', 'https://a.example', ['https://a.example']],
      SVC_TRUST_PROXY: ['trust_proxy', 'true', true],
    } as const
    const env = Object.fromEntries(Object.entries(given).map(([name, [, text]]) => [name, text]))
    const row = await resolved({ env })
    for (const [name, [key, , value]] of Object.entries(given)) {
      expect(row(key), key).toMatchObject({ value, source: `env ${name}` })
    }
  },
)

proves('modes.local-with-oauth', 'OAuth in local mode is a config error', async () => {
  const { code, stderr } = await run('serve', { env: { SVC_PLATFORM_OAUTH_ENABLED: 'true' } })
  expect(code).toBe(2)
  expect(stderr).toContain('platform.oauth.enabled needs local_mode: false')
})

proves('running.local-refuses-other-address', 'local mode refuses an address that others reach', async () => {
  const { code, stdout, stderr } = await run('serve', { flags: ['--host', '0.0.0.0'] })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('--insecure-no-auth')
})

proves('modes.never-open', 'without local mode this version refuses to start', async () => {
  const { code, stdout, stderr } = await run('serve', { flags: ['--local-mode', 'false'] })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('it never runs open')
})

proves(
  ['running.home-setting', 'running.home-nearest-parent', 'running.home-xdg'],
  'the home is the one named, else the nearest marked parent folder, else the data folder',
  async () => {
    await using folder = await temporaryFolder()
    const deep = join(folder.path, 'project', 'below')
    await mkdir(deep, { recursive: true })
    await writeFile(join(folder.path, 'project', 'config.yaml'), 'agenthost: 1\n')
    const home = async (args: string[], options: RunOptions) =>
      answer.parse(JSON.parse((await agenthost(['config', '--json', ...args], options)).stdout)).home
    const xdg = { XDG_DATA_HOME: join(folder.path, 'share') }
    expect(await home(['--home', '/named'], { cwd: deep, env: { SVC_HOME: '/other' } })).toBe('/named')
    expect(await home([], { cwd: deep, env: { SVC_HOME: '/other' } })).toBe('/other')
    expect(await home([], { cwd: deep, env: xdg })).toBe(join(folder.path, 'project'))
    expect(await home([], { cwd: folder.path, env: xdg })).toBe(join(folder.path, 'share', 'agenthost'))
  },
)
