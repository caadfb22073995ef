// No secret of a server is shown: not where it is, not in what it says, not in what is wrong with it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeConfig } from '../../src/config/describe.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Json } from '../../src/contract/tool.ts'
import { createMask, maskJson } from '../../src/tools/servers/secrets/mask.ts'
import { readConfig, readEntry } from './server-files-house.ts'

const shownArgs = async (args: string[], given = {}) => {
  const { shown } = await readEntry({ command: 'x', args }, given)
  return shown && 'args' in shown ? shown.args : undefined
}
const shownUrl = async (url: string, given = {}) => {
  const { shown } = await readEntry({ url }, given)
  return shown && 'url' in shown ? shown.url : undefined
}

describe('what is shown', () => {
  test('is what the file says, with variables by name', async () => {
    const args = [
      '-y',
      'pkg@1.2',
      '--port',
      '80',
      '--token',
      '${TOKEN}',
      '--url=${URL:-http://x/y?a=b}',
      '$${A}',
      'a b',
    ]
    const variables = { TOKEN: 'hunter22', URL: 'http://z' }
    expect(await shownArgs(args, { variables })).toEqual(args)
  })

  test.each<[given: string[], shown: string[]]>([
    [
      ['--api-key', 'x1'],
      ['--api-key', '••••'],
    ],
    [
      ['--token=x1', '-auth=x2'],
      ['--token=••••', '-auth=••••'],
    ],
    [
      ['--token=${T}', '--token=a${T}b'],
      ['--token=${T}', '--token=••••${T}••••'],
    ],
    [
      ['--token', '${T:-x1}'],
      ['--token', '${T:-••••}'],
    ],
    [
      ['${API_KEY:-x1}', '${HOST:-x1}'],
      ['${API_KEY:-••••}', '${HOST:-x1}'],
    ],
    [
      ['--no-auth', '--port', '80'],
      ['--no-auth', '--port', '80'],
    ],
    [
      ['--no-auth', '-p', '80'],
      ['--no-auth', '-p', '80'],
    ],
    [
      ['run', '-e', 'API_KEY=x1', '-e', 'REGION=eu'],
      ['run', '-e', 'API_KEY=••••', '-e', 'REGION=eu'],
    ],
    [['--env=DB_PASSWORD=x1=='], ['--env=DB_PASSWORD=••••']],
    [
      ['-H', 'Authorization:x1'],
      ['-H', 'Authorization:••••'],
    ],
    [
      ['--header', 'X-Api-Key: x1 x2', 'X-Other: y'],
      ['--header', 'X-Api-Key: ••••', 'X-Other: y'],
    ],
    [
      ['-u', 'bob:x1', '--user', 'bob:x:2'],
      ['-u', 'bob:••••', '--user', 'bob:••••'],
    ],
    [
      ['-u', 'bob', '--user', '1000', '-u', 'bob:'],
      ['-u', 'bob', '--user', '1000', '-u', 'bob:'],
    ],
    [
      ['keycloak:latest', '-H', 'Accept:x'],
      ['keycloak:latest', '-H', 'Accept:x'],
    ],
    [
      ['Bearer x1', 'a bearer x2, y'],
      ['Bearer ••••', 'a bearer ••••, y'],
    ],
    [
      ['-c', 'export API_KEY="x 1" && run --token x2 --port 3'],
      ['-c', 'export API_KEY="••••" && run --token •••• --port 3'],
    ],
    [
      ['-c', 'run TOKEN="x1', "run 'TOKEN=x1'"],
      ['-c', 'run TOKEN=••••', "run 'TOKEN=••••'"],
    ],
    [
      ['--config', '{"apiKey": "x\\"1", "region": "eu"}'],
      ['--config', '{"apiKey": "••••", "region": "eu"}'],
    ],
    [['Server=db;Password=x1;Pooling=true'], ['Server=db;Password=••••;Pooling=true']],
    [['postgres://me:x1@db:5432/it'], ['postgres://••••@db:5432/it']],
    [['postgres://me:x/1@2@db/it'], ['postgres://me:••••@db/it']],
    [['postgres://${USER}:${PASSWORD:-x/1}@db/it'], ['postgres://${USER}:${PASSWORD:-••••}@db/it']],
    [['https://localhost:8080/@scope/pkg'], ['https://localhost:8080/@scope/pkg']],
    [
      ['sk-abcdefghijkl', 'my=ghp_abcdefghijkl'],
      ['••••', 'my=••••'],
    ],
    [
      ['github_pat_abcdefghijkl', 'xoxb-abcdefghijkl', 'AKIAABCDEFGHIJKL'],
      ['••••', '••••', '••••'],
    ],
    [
      ['eyJhbGciOi.eyJzdWIi.c2ln', 'task-abcdefghijkl'],
      ['••••', 'task-abcdefghijkl'],
    ],
  ])('of the arguments %j is %j', async (given, shown) => {
    expect(await shownArgs(given)).toEqual(shown)
  })

  test.each([
    ['https://me:x1@example.com/mcp', 'https://••••@example.com/mcp'],
    ['https://x1@example.com/mcp', 'https://••••@example.com/mcp'],
    ['https://example.com/mcp?api_key=x1&region=eu&sig=x2', 'https://example.com/mcp?api_key=••••&region=eu&sig=••••'],
    ['https://example.com/${PATH_KEY}?key=${K:-x1}', 'https://example.com/${PATH_KEY}?key=${K:-••••}'],
  ])('of the address %s is %s', async (url, shown) => {
    expect(await shownUrl(url)).toBe(shown)
  })

  test('has no secret of another place either', async () => {
    const { shown } = await readEntry({ command: 'x', args: ['hunter22', 'a'], env: { PASSWORD: 'hunter22' } })
    expect(shown).toEqual({ command: 'x', args: ['••••', 'a'] })
  })

  test('has no secret of a server that is not ready', async () => {
    const entry = { command: 'x', args: ['hunter22', '${MISSING}'], env: { PASSWORD: '${P}' } }
    const { shown } = await readEntry(entry, { variables: { P: 'hunter22' } })
    expect(shown).toEqual({ command: 'x', args: ['••••', '${MISSING}'] })
  })
})

describe('the mask of a server', () => {
  const masked = async (text: string, entry: object, given = {}) => (await readConfig(entry, given)).mask(text)
  const command = (args: string[], env: Record<string, string> = {}) => ({ command: 'x', args, env })

  test.each<[what: string, entry: object, secret: string]>([
    ['a secret name in env', command([], { API_KEY: 'abc1' }), 'abc1'],
    ['a secret flag', command(['--password', 'abc1']), 'abc1'],
    ['an argument NAME=value', command(['-e', 'TOKEN=abc1']), 'abc1'],
    ['a password in an address in env', command([], { DATABASE_URL: 'postgres://me:abc1@db/it' }), 'abc1'],
    ['a password in an address', { url: 'https://me:abc1@example.com' }, 'abc1'],
    ['a user name alone', { url: 'https://abc1@example.com' }, 'abc1'],
    ['an encoded password, decoded', { url: 'https://me:ab%40c1@example.com' }, 'ab@c1'],
    ['the header made of it', { url: 'https://me:abc1@example.com' }, Buffer.from('me:abc1').toString('base64')],
    ['a parameter', { url: 'https://example.com/?token=abc1' }, 'abc1'],
    ['a header', { url: 'http://x', headers: { 'X-Tenant': 'abc123' } }, 'abc123'],
    ['a bearer alone', { url: 'http://x', headers: { Authorization: 'Bearer abc1' } }, 'abc1'],
    ['a default of a secret name', command(['${API_KEY:-abc1}']), 'abc1'],
  ])('knows %s', async (_what, entry, secret) => {
    expect(await masked(`before ${secret} after`, entry)).toBe('before •••• after')
  })

  test('knows every value of variables.yml, also of other servers, and secret names of the process', async () => {
    const entry = command(['${REGION}', '${API_KEY}', '${PLACE}', '${AGENTHOST_KEY}'])
    const files = { 'variables.yml': 'REGION: europe\nUNUSED: unused' }
    const variables = { API_KEY: 'abc1', PLACE: 'berlin' }
    const given = { files, variables, builtIn: { AGENTHOST_KEY: 'built-in' } }
    expect(await masked('europe abc1 berlin unused built-in', entry, given)).toBe('•••• •••• berlin •••• built-in')
  })

  test('leaves short values alone', async () => {
    const entry = { url: 'http://x', headers: { 'X-Tenant': 'abcde', 'X-Key': 'abc' } }
    expect(await masked('abcde abc', entry)).toBe('abcde abc')
  })

  test('leaves words alone that are no secret, whatever their name', async () => {
    const env = { AUTH_ENABLED: 'true', AUTH_MODE: 'None', MAX_TOKENS: '4096', API_KEY: '4097' }
    expect(await masked('true None 4096 4097', command(['--token-limit', '4098'], env))).toBe('true None 4096 ••••')
  })

  test('is nothing to a server without secrets', async () => {
    expect(await masked('text', command(['a']))).toBe('text')
  })
})

describe('a mask', () => {
  const secret = 'pä/ß "w+1?\\'
  const mask = createMask([secret])

  test.each<[form: string, text: string]>([
    ['itself', secret],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['an address', encodeURIComponent(secret)],
    ['an address in lower case', encodeURIComponent(secret).replaceAll(/%../g, (hex) => hex.toLowerCase())],
    ['a form', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['base64', Buffer.from(secret).toString('base64').replace(/=+$/, '')],
    ['base64url', Buffer.from(secret).toString('base64url')],
  ])('hides a secret as %s', (_form, text) => {
    expect(mask(`a ${text} b ${text}${text}.`)).toMatch(/^a •••• b (••••)+\.$/)
  })

  test.each(['', 'a', 'ab', 'abc', 'user:'])('hides a secret inside of base64 behind %j', (before) => {
    const text = Buffer.from(`${before}correct horse${before}`).toString('base64')
    const left = Buffer.from(createMask(['correct horse'])(text).split('••••')[0] ?? '', 'base64').toString()
    expect(createMask(['correct horse'])(text)).toContain('••••')
    expect(left.replaceAll('\uFFFD', '').length).toBeLessThanOrEqual(before.length + 1)
  })

  test('takes the longest of several, and one mask for those that overlap', () => {
    const several = createMask(['secret', 'secret-long', 'long-tail'])
    expect(several('secret secret-long secret-long-tail secre')).toBe('•••• •••• •••• secre')
  })

  test('hides the lines of a key file one by one', () => {
    const lines = ['-----BEGIN KEY-----', 'MIIEvQIBADANBgkqhkiG9w0BAQ', 'ab==']
    expect(createMask([lines.join('\n')])(`x ${lines[1]} y`)).toBe('x •••• y')
  })

  test('works with secrets too large for a regular expression, and with long texts in one pass', () => {
    const huge = 'ab'.repeat(500_000)
    const large = createMask([`${huge}c`, 'hunter22'])
    const text = `${'lorem ipsum hunter2 '.repeat(500_000)}hunter22`
    expect(large(text).endsWith('hunter2 ••••')).toBe(true)
    expect(large(`x${huge}c`)).toBe('x••••')
  })

  test('hides whatever secrets stand in whatever text', () => {
    const secretText = fc
      .string({ minLength: 6, maxLength: 40, unit: 'grapheme' })
      .filter((text) => text.trim().length > 5)
    const secrets = fc.array(
      secretText.filter((text) => !text.includes('•')),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(secrets, fc.array(fc.string()), fc.nat(2), (known, others, form) => {
        const forms = [(text: string) => text, encodeURIComponent, (text: string) => JSON.stringify(text).slice(1, -1)]
        const shown = forms[form] ?? String
        const text = others.flatMap((other, index) => [other, shown(known[index % known.length] ?? '')]).join('')
        const safe = createMask(known)(text)
        expect(known.filter((value) => safe.includes(value) || safe.includes(shown(value)))).toEqual([])
      }),
    )
  })
})

describe('the mask of a JSON value', () => {
  const mask = createMask(['hunter22'])

  test('hides secrets in texts and names, and leaves the rest as it is', () => {
    const untouched = { a: [1, 'x', null] }
    const value = { ok: untouched, list: ['hunter22', true], 'a hunter22': 1, deep: { x: 'my hunter22' } }
    const safe = maskJson(value, mask)
    expect(safe).toEqual({ ok: untouched, list: ['••••', true], 'a ••••': 1, deep: { x: 'my ••••' } })
    expect((safe as typeof value).ok).toBe(untouched)
  })

  test('hides secrets that are numbers, and leaves other numbers numbers', () => {
    const number = createMask(['918273645546'])
    const value = { n: 918_273_645_546, list: [918_273_645_546, 9182, 0.5], text: '918273645546' }
    expect(maskJson(value, number)).toEqual({ n: '••••', list: ['••••', 9182, 0.5], text: '••••' })
  })

  test('gives the same value when there is nothing to hide', () => {
    const value: Json = { a: ['b', { c: 'd' }], e: null }
    expect(maskJson(value, mask)).toBe(value)
  })

  test('survives a value of any depth, and a field called __proto__', () => {
    const deep: Json = JSON.parse(`${'['.repeat(200_000)}"hunter22"${']'.repeat(200_000)}`)
    expect(JSON.stringify(maskJson(deep, mask))).toMatch(/^\[+"••••"\]+$/)
    const odd: Json = JSON.parse('{"__proto__": "hunter22"}')
    expect(JSON.stringify(maskJson(odd, mask))).toBe('{"__proto__":"••••"}')
  })
})

describe('the variables of the process', () => {
  const env = { API_TOKEN: 'hunter22', EMPTY: '', GONE: undefined }
  const { config, origins } = loadConfig({ flags: { home: '/nowhere' }, env, cwd: '/' })

  test('are in the configuration as they were at the start', () => {
    expect(config.env).toEqual({ API_TOKEN: 'hunter22', EMPTY: '' })
    expect(Object.keys(config.env)).not.toContain('GONE')
    expect(Object.isFrozen(config.env)).toBe(true)
    env.API_TOKEN = 'changed'
    expect(config.env.API_TOKEN).toBe('hunter22')
  })

  test('are not in what is shown of it', () => {
    expect(JSON.stringify(describeConfig(config, origins))).not.toContain('hunter22')
  })
})

describe('whatever a file looks like', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9+/=_.-]{12,24}$/).map((text) => `S3cr3t${text}`)
  const entries: readonly ((text: string) => unknown)[] = [
    (text) => ({ command: 'x', args: ['--token', text] }),
    (text) => ({ command: 'x', args: [`--token=${text}`, `a${text}b`] }),
    (text) => ({ command: 'x', args: ['${API_KEY}', text] }),
    (text) => ({ command: 'x', args: [`\${API_KEY:-${text}}`] }),
    (text) => ({ command: 'x', args: [text, '${MISSING}'], env: { API_KEY: text } }),
    (text) => ({ command: 'x', env: { API_KEY: [text] } }),
    (text) => ({ command: { [text]: text } }),
    (text) => ({ command: 'x', args: [`\${${text}`] }),
    (text) => ({ command: 'x', url: text }),
    (text) => ({ command: 'x', type: text, retry: text, trusted: text, timeout_seconds: text }),
    (text) => ({ url: `http://me:${encodeURIComponent(text)}@example.com`, headers: { A: text } }),
    (text) => ({ url: `nonsense://${text}` }),
    (text) => ({ url: `\${API_KEY}://${text}` }),
    (text) => ({ url: `http://x/?token=${encodeURIComponent(text)}` }),
    (text) => ({ url: 'http://x', headers: { [`Authorization: ${text}`]: 'x' } }),
    (text) => ({ url: 'http://x', headers: { Authorization: `Bearer ${text}\n` } }),
    (text) => `{ "mcpServers": { "it": { "command": "x", "args": [ ${text} ] } } }`,
  ]

  test('its secrets are neither shown nor said', async () => {
    await fc.assert(
      fc.asyncProperty(secret, fc.constantFrom(...entries), fc.boolean(), async (text, toEntry, inFile) => {
        const given = inFile ? { files: { 'variables.yml': `API_KEY: "${text}"` } } : { variables: { API_KEY: text } }
        const { servers, errors, config } = await readEntry(toEntry(text), given)
        const said = servers.map(({ shown, config: found }) => [shown, 'problem' in found ? found.problem : ''])
        expect(JSON.stringify([said, errors])).not.toContain(text)
        const isUsed = config && JSON.stringify(config.target).includes(text)
        if (isUsed) expect(config.mask(`> ${text} <`)).toBe('> •••• <')
      }),
      { numRuns: 300 },
    )
  })
})
