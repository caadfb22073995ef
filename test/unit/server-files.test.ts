// Server files as people write them: what is understood, what is refused and in which words.
import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createServerFiles } from '../../src/tools/servers/server-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readConfig, readEntry, readEnvironment } from './server-files-house.ts'

const echo = { command: 'echo' }
const servers = (mcpServers: Record<string, unknown>) => ({ mcpServers })
const target = async (entry: unknown, given = {}) => (await readConfig(entry, given)).target

describe('the files', () => {
  test('are read in the order of their names, without hidden ones and those in folders below', async () => {
    const { servers: found, errors } = await readEnvironment({
      files: {
        'b.json': servers({ two: echo, three: echo }),
        'a.json': servers({ one: echo }),
        '.hidden.json': servers({ hidden: echo }),
        'below/c.json': servers({ below: echo }),
        'notes.txt': 'not JSON',
      },
    })
    expect(errors).toEqual([])
    expect(found.map(({ file, name }) => [file, name])).toEqual([
      ['default/a.json', 'one'],
      ['default/b.json', 'two'],
      ['default/b.json', 'three'],
    ])
  })

  test('may have comments, last commas, a byte order mark and other keys at the top', async () => {
    const text =
      '\uFEFF// mine\n{ "$schema": "x", "mcpServers": { "a": { "command": "echo", /* why */ "args": ["1",], }, }, }'
    expect(await readEnvironment({ files: { 'a.json': text } })).toMatchObject({
      errors: [],
      servers: [{ name: 'a', config: { target: { args: ['1'] } } }],
    })
  })

  test.each<[what: string, text: string, message: string]>([
    [
      'a mistake',
      '{\n  "mcpServers": {\n    "a": nope\n  }\n}',
      'is not valid JSON (line 3, column 10: invalid symbol)',
    ],
    ['nothing at all', '', 'is not valid JSON (line 1, column 1: value expected)'],
    ['a list', '[]', 'must be an object: {"mcpServers": {"<name>": {…}}}'],
    ['no servers', '{}', 'has no "mcpServers"; a server file has the form {"mcpServers": {"<name>": {…}}}'],
    ['servers in a list', '{"mcpServers": []}', '"mcpServers" must be an object: {"mcpServers": {"<name>": {…}}}'],
    ['servers twice', '{"mcpServers": {}, "mcpServers": {}}', 'has "mcpServers" twice'],
    ['no end of depth', `{"mcpServers": ${'['.repeat(500_000)}`, 'is nested deeper than 64 levels'],
    ['too much', ' '.repeat(1024 * 1024 + 1), 'is larger than 1024 KiB'],
  ])('with %s are errors', async (_what, text, message) => {
    const found = await readEnvironment({ files: { 'a.json': text, 'b.json': servers({ good: echo }) } })
    expect(found.errors).toEqual([{ file: 'default/a.json', message }])
    expect(found.servers).toMatchObject([{ name: 'good' }])
  })

  test('with a server twice leave that server out', async () => {
    const text = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "a": {"command": "z"}}}'
    const found = await readEnvironment({ files: { 'a.json': text } })
    expect(found.errors).toEqual([
      { file: 'default/a.json', server: 'a', message: 'the server is there twice in this file' },
    ])
    expect(found.servers).toMatchObject([{ name: 'b' }])
  })

  test('with a key twice, at any depth, leave that server out', async () => {
    const text = '{"mcpServers": {"a": {"command": "x",\n "env": {"A": "1",\n  "A": "2"}}, "b": {"command": "y"}}}'
    const found = await readEnvironment({ files: { 'a.json': text } })
    const message = 'the same key is there twice (line 3, column 3)'
    expect(found.errors).toEqual([{ file: 'default/a.json', server: 'a', message }])
    expect(found.servers).toMatchObject([{ name: 'b' }])
  })

  test('name both files when a server is in two, and neither counts', async () => {
    const files = { 'a.json': servers({ it: { command: 'first' } }), 'b.json': servers({ it: { command: 'second' } }) }
    const found = await readEnvironment({ files })
    expect(found.errors).toEqual([
      {
        file: 'default/a.json',
        server: 'it',
        message: 'the server is in default/a.json and default/b.json: keep one of them',
      },
    ])
    expect(found.servers).toEqual([])
  })

  test('keep a server of one file out of another also when the first one is wrong', async () => {
    const files = { 'a.json': servers({ it: {} }), 'b.json': servers({ it: echo }) }
    expect((await readEnvironment({ files })).servers).toEqual([])
  })

  test('that cannot be read are errors without a path of this machine', async () => {
    await using root = await temporaryFolder()
    const folder = join(root.path, 'environments', 'default')
    await mkdir(join(folder, 'folder.json'), { recursive: true })
    await writeFile(join(root.path, 'outside.json'), JSON.stringify(servers({ outside: echo })))
    await symlink(join(root.path, 'outside.json'), join(folder, 'link.json'))
    await symlink('gone.json', join(folder, 'lost.json'))
    await writeFile(join(folder, 'bytes.json'), Buffer.from([0xff, 0xfe, 0x00]))
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe.json')])
    const { read } = createServerFiles({ root: join(root.path, 'environments'), variables: {}, builtIn: {} })
    expect(await read('default')).toEqual({
      servers: [],
      errors: [
        { file: 'default/bytes.json', message: 'is not UTF-8 text' },
        { file: 'default/folder.json', message: 'is not a file' },
        { file: 'default/link.json', message: 'leads out of its folder' },
        { file: 'default/lost.json', message: 'leads nowhere' },
        { file: 'default/pipe.json', message: 'is not a file' },
      ],
    })
  })

  test('of an environment that is not there, or that is no folder, are an error', async () => {
    await using root = await temporaryFolder()
    await writeFile(join(root.path, 'text'), '')
    await symlink('/', join(root.path, 'out'))
    const { read } = createServerFiles({ root: root.path, variables: {}, builtIn: {} })
    expect(await read('missing')).toEqual({
      servers: [],
      errors: [{ file: 'missing', message: 'the folder is missing' }],
    })
    expect((await read('text')).errors).toEqual([{ file: 'text', message: 'is not a folder' }])
    expect((await read('out')).errors).toEqual([{ file: 'out', message: 'leads out of its folder' }])
    expect((await read('..')).errors).toEqual([{ file: '..', message: 'is not the name of an environment' }])
    const nowhere = createServerFiles({ root: join(root.path, 'nowhere'), variables: {}, builtIn: {} })
    expect((await nowhere.read('default')).errors).toEqual([{ file: 'default', message: 'the folder is missing' }])
  })

  test('may be more than a process can have open', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`${index}.json`, servers({ [`s${index}`]: echo })]),
    )
    expect((await readEnvironment({ files })).servers).toHaveLength(300)
  })
})

describe('names of servers', () => {
  test.each(['a', '0', 'my-server_2.x', 'A'.repeat(64)])('%s is one', async (name) => {
    const found = await readEnvironment({ files: { 'a.json': servers({ [name]: echo }) } })
    expect(found.servers).toMatchObject([{ name }])
  })

  test.each(['', '.', '..', '-a', '_a', 'a/b', 'a b', 'ä', 'A'.repeat(65), '__proto__', 'a\nb'])(
    '%j is none',
    async (name) => {
      const text = `{"mcpServers": {${JSON.stringify(name)}: {"command": "echo"}}}`
      const found = await readEnvironment({ files: { 'a.json': text } })
      expect(found.servers).toEqual([])
      expect(found.errors).toMatchObject([
        { file: 'default/a.json', message: expect.stringContaining('must be 1 to 64') },
      ])
    },
  )
})

describe('an entry', () => {
  test('with a command has arguments, variables and a folder', async () => {
    const entry = { command: 'node', args: ['a.js', 1, true], env: { A: 'x', B: 2, C: false }, cwd: 'below' }
    const { config, folder, server } = await readEntry(entry)
    expect(config?.target).toEqual({
      kind: 'stdio',
      command: 'node',
      given: 'node',
      args: ['a.js', '1', 'true'],
      env: { A: 'x', B: '2', C: 'false' },
      cwd: join(folder, 'below'),
    })
    expect(server).toMatchObject({ name: 'it', transport: 'stdio', file: 'default/a.json', disabled: false })
    expect(config).toMatchObject({ environment: 'default', name: 'it', timeout_ms: 60_000, connect_timeout_ms: 20_000 })
  })

  test('with a url has headers', async () => {
    const { config, server } = await readEntry({
      url: 'https://example.com/mcp?a=b',
      headers: { 'X-A': 1, 'X-B': 'b' },
    })
    const headers = { 'X-A': '1', 'X-B': 'b' }
    expect(config?.target).toEqual({ kind: 'http', url: 'https://example.com/mcp?a=b', headers })
    expect(server).toMatchObject({ transport: 'http', shown: { url: 'https://example.com/mcp?a=b' } })
  })

  test('runs in the folder of its environment unless it says where', async () => {
    const { config, folder } = await readEntry({ command: './bin/server' })
    expect(config?.target).toMatchObject({ command: join(folder, 'bin/server'), cwd: folder })
    expect(await target({ command: 'bin/x', cwd: '/opt' })).toMatchObject({ command: '/opt/bin/x', cwd: '/opt' })
    expect(await target({ command: '/bin/x', cwd: '/opt' })).toMatchObject({ command: '/bin/x' })
    expect(await target({ command: 'npx', cwd: '/opt' })).toMatchObject({ command: 'npx' })
  })

  test('takes what is ours', async () => {
    const ours = { timeout_seconds: 3600, connect_timeout_seconds: 1, retry: 'safe', trusted: true, disabled: true }
    const { config, server } = await readEntry({ ...echo, ...ours })
    expect(config).toMatchObject({ timeout_ms: 3_600_000, connect_timeout_ms: 1000, retry: 'safe', trusted: true })
    expect(server?.disabled).toBe(true)
  })

  test('passes over the keys of other clients', async () => {
    const theirs = { autoApprove: [], alwaysAllow: ['x'], description: 'x', timeout: 5, id: 1, tags: [], name: 'x' }
    expect((await readEntry({ ...echo, ...theirs })).errors).toEqual([])
  })

  test.each([
    ['comand', 'command'],
    ['Command', 'command'],
    ['arg', 'args'],
    ['evn', 'env'],
    ['timeoutSeconds', 'timeout_seconds'],
    ['header', 'headers'],
    ['trust', 'trusted'],
  ])('with %s is asked whether %s is meant', async (key, meant) => {
    const { errors, servers: found } = await readEntry({ command: 'echo', [key]: 'x' })
    const message = `unknown key ${JSON.stringify(key)}; did you mean ${meant}?`
    expect(errors).toEqual([{ file: 'default/a.json', server: 'it', message }])
    expect(found).toEqual([])
  })

  test.each(['stdio', 'STDIO'])('may say %s with a command', async (type) => {
    expect((await readEntry({ command: 'echo', type })).config).toBeDefined()
    expect((await readEntry({ url: 'http://x', type })).message).toBe('type says stdio, but there is a "url"')
  })

  test.each(['http', 'streamable-http', 'streamableHttp', 'streamable_http'])('may say %s with a url', async (name) => {
    expect((await readEntry({ url: 'http://x', transport: name })).config).toBeDefined()
    expect((await readEntry({ ...echo, transport: name })).message).toBe(
      'transport says http, but there is a "command"',
    )
  })

  test.each<[what: string, entry: unknown, message: string]>([
    ['no object', 'echo', 'must be an object with a "command" or a "url"'],
    ['a list', [], 'must be an object with a "command" or a "url"'],
    ['nothing', null, 'must be an object with a "command" or a "url"'],
    ['neither', {}, 'has neither "command" nor "url"'],
    ['both', { command: 'a', url: 'http://b' }, 'has both "command" and "url"; a server has one of them'],
    [
      'headers of a command',
      { ...echo, headers: {} },
      'headers belongs to a server with a "url", and this one has a "command"',
    ],
    [
      'env of a url',
      { url: 'http://x', env: {} },
      'env belongs to a server with a "command", and this one has a "url"',
    ],
    ['sse', { url: 'http://x', type: 'sse' }, expect.stringContaining('type "sse" is not supported')],
    ['an unknown type', { ...echo, type: 'pigeon' }, 'type must be "stdio", "http" or "streamable-http"'],
    ['no text as command', { command: 1 }, 'command must be text'],
    ['an empty command', { command: '' }, 'command must not be empty'],
    ['a blank command', { command: ' ' }, 'command must not be empty'],
    ['args in one text', { command: 'a', args: 'b' }, 'args must be a list'],
    ['a list in args', { command: 'a', args: ['b', ['c']] }, 'args[1] must be text, a number, true or false'],
    ['env in a list', { command: 'a', env: ['b'] }, 'env must be an object of names and values'],
    ['null in env', { command: 'a', env: { B: null } }, 'env.B must be text, a number, true or false'],
    ['an = in a name', { command: 'a', env: { 'B=C': '' } }, 'env has a name that no variable can have'],
    ['NUL', { command: 'a', args: ['\0'] }, 'has a NUL character'],
    ['no time', { ...echo, timeout_seconds: 0 }, 'timeout_seconds must be a number from 1 to 3600'],
    ['too much time', { ...echo, timeout_seconds: 3601 }, 'timeout_seconds must be a number from 1 to 3600'],
    [
      'time as text',
      { ...echo, connect_timeout_seconds: '5' },
      'connect_timeout_seconds must be a number from 1 to 600',
    ],
    ['an unknown retry', { ...echo, retry: 'always' }, 'retry must be "safe" or "never"'],
    ['trust in words', { ...echo, trusted: 'yes' }, 'trusted must be true or false'],
    [
      'a half variable',
      { command: 'a', args: ['${B'] },
      expect.stringContaining('args[0] has a "${" that begins no variable'),
    ],
    [
      'another syntax',
      { command: 'a', env: { B: '${env:B}' } },
      expect.stringContaining('env.B has a "${" that begins'),
    ],
    ['another protocol', { url: 'ftp://x' }, 'url must be an address with http:// or https://'],
    ['no address', { url: 'example.com/mcp' }, 'url must be an address with http:// or https://'],
    ['a bad header', { url: 'http://x', headers: { 'A b: c': 'd' } }, 'headers has a name that no header can have'],
    [
      'a line break',
      { url: 'http://x', headers: { A: 'b\r\nc: d' } },
      expect.stringContaining('headers.A has a line break'),
    ],
    ['a header twice', { url: 'http://x', headers: { A: '1', a: '2' } }, 'headers has a twice'],
  ])('with %s is an error', async (_what, entry, message) => {
    const { errors, servers: found } = await readEntry(entry)
    expect(errors).toEqual([{ file: 'default/a.json', server: 'it', message }])
    expect(found).toEqual([])
  })

  test.each([
    ...['mcp-session-id', 'Mcp-Protocol-Version', 'Content-Type', 'accept'],
    ...['content-length', 'Host', 'connection', 'transfer-encoding'],
  ])('must not set the header %s', async (name) => {
    const { message } = await readEntry({ url: 'http://x', headers: { [name]: 'x' } })
    expect(message).toBe(`headers must not set ${name.toLowerCase()}: the protocol does`)
  })

  test('with a password in its url sends it as a header', async () => {
    const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
    const url = 'https://me:p%40ss@example.com/mcp'
    expect(await target({ url })).toMatchObject({ url: 'https://example.com/mcp', headers: { Authorization: basic } })
    const own = { authorization: 'Bearer mine' }
    expect(await target({ url, headers: own })).toMatchObject({ url: 'https://example.com/mcp', headers: own })
  })
})

describe('the hash', () => {
  const hash = async (entry: object) => (await readConfig({ command: '/bin/x', cwd: '/', ...entry })).hash

  test('is the same whatever the order of keys, and whatever is said about being disabled', async () => {
    const one = await hash({ env: { A: '1', B: '2' }, trusted: false, disabled: true })
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(await hash({ env: { B: '2', A: '1' } })).toBe(one)
  })

  test('is another one for every change that matters', async () => {
    const changes = [
      {},
      { command: '/bin/y' },
      { args: ['a', 'b'] },
      { args: ['a b'] },
      { env: { A: '1' } },
      { cwd: '/tmp' },
      { timeout_seconds: 5 },
      { connect_timeout_seconds: 5 },
      { retry: 'safe' },
      { retry: 'never' },
      { trusted: true },
    ]
    expect(new Set(await Promise.all(changes.map(hash))).size).toBe(changes.length)
  })

  test('follows the value of a variable', async () => {
    const entry = { command: 'x', args: ['${A}'], cwd: '/' }
    const [one, two] = await Promise.all(['1', '2'].map((A) => readConfig(entry, { variables: { A } })))
    expect(one?.hash).not.toBe(two?.hash)
  })
})

describe('variables', () => {
  const args = async (text: string, given = {}) => {
    const found = await target({ command: 'x', args: [text] }, given)
    return found.kind === 'stdio' ? found.args[0] : undefined
  }

  test('are filled in everywhere', async () => {
    const variables = { A: 'a', D: '/d' }
    const entry = { command: '${A}-x', args: ['1${A}2${A}'], env: { E: '${A}' }, cwd: '${D}/e' }
    expect(await target(entry, { variables })).toEqual({
      kind: 'stdio',
      command: 'a-x',
      given: 'a-x',
      args: ['1a2a'],
      env: { E: 'a' },
      cwd: '/d/e',
    })
    const http = { url: 'http://${A}/', headers: { 'X-A': '${A}' } }
    expect(await target(http, { variables })).toEqual({ kind: 'http', url: 'http://a/', headers: { 'X-A': 'a' } })
  })

  test('are built in, or come from variables.yml, then from the process', async () => {
    const given = {
      files: { 'variables.yml': 'A: file' },
      builtIn: { A: 'built in', B: 'built in' },
      variables: { A: 'process', B: 'process', C: 'process' },
    }
    expect(await args('${A} ${B} ${C}', given)).toBe('built in built in process')
  })

  test('have defaults, also for an empty value, which are taken as they are', async () => {
    const variables = { EMPTY: '', B: 'b' }
    expect(await args('${A:-x} ${EMPTY:-y} ${B:-z} ${A:-} ${EMPTY}.', { variables })).toBe('x y b  .')
    expect(await args('${A:-$B ${B}', { variables })).toBe('$B ${B')
  })

  test('are literal behind two dollars, and a lone dollar is a dollar', async () => {
    expect(await args('$${A} $A $ $$ {A}')).toBe('${A} $A $ $$ {A}')
  })

  test('from a value are not filled in again', async () => {
    expect(await args('${A}', { variables: { A: '${B}', B: 'b' } })).toBe('${B}')
  })

  test('of Object are not there', async () => {
    expect((await readEntry({ command: '${constructor}' })).problem).toContain('variable constructor is not set')
  })

  test('that are missing are a problem of the one server, by name', async () => {
    const files = {
      'a.json': servers({ one: { command: '${A}' }, two: { command: 'x', args: ['${C}', '${B}${A}'] }, good: echo }),
    }
    const { servers: found, errors } = await readEnvironment({ files })
    const where = 'environments/default/variables.yml or the environment'
    expect(errors).toEqual([])
    expect(found).toMatchObject([
      { config: { problem: `variable A is not set; put it into ${where}` }, shown: { command: '${A}' } },
      { config: { problem: `variables C, B, and A are not set; put them into ${where}` } },
      { config: { target: { command: 'echo' } } },
    ])
  })

  test('that make an address no address are a problem, without saying what it was', async () => {
    const { problem, errors } = await readEntry({ url: '${URL}' }, { variables: { URL: 'hunter22' } })
    expect(problem).toBe('url must be an address with http:// or https:// (after its variables are filled in)')
    expect(errors).toEqual([])
  })

  test('are texts as they are written', async () => {
    const yaml = 'A: 0123\nB: 1.10\nC: yes\nD: true\nE: "x: y"\nF: |\n  two\n  lines\nG: 0x1F\n'
    expect(await args('${A},${B},${C},${D},${E},${F},${G}', { files: { 'variables.yml': yaml } })).toBe(
      '0123,1.10,yes,true,x: y,two\nlines\n,0x1F',
    )
  })

  test('without a value yet are not set', async () => {
    const given = { files: { 'variables.yml': 'A:\nB: ~\n' } }
    expect((await readEntry({ command: '${A}${B}' }, given)).problem).toContain('variables A and B are not set')
  })

  test.each(['', '# nothing yet\n', '---\n'])('may be none in the file: %j', async (yaml) => {
    expect((await readEntry(echo, { files: { 'variables.yml': yaml } })).errors).toEqual([])
  })

  test('may be in variables.yaml, but not in both', async () => {
    expect(await args('${A}', { files: { 'variables.yaml': 'A: a' } })).toBe('a')
    const { errors } = await readEntry(echo, { files: { 'variables.yaml': 'A: a', 'variables.yml': 'A: b' } })
    expect(errors).toEqual([
      { file: 'default/variables.yaml', message: 'is there beside variables.yml: keep one of them' },
    ])
  })

  const FORM = 'must be a name (letters, digits and _) with a text, a number, true or false'
  test.each<[what: string, yaml: string, message: string]>([
    ['a list', '- hunter22', 'must be names with values, such as API_KEY: abc'],
    ['one text', 'hunter22', 'must be names with values, such as API_KEY: abc'],
    ['a list in it', 'A: a\nB: [hunter22]', `line 2, column 1: ${FORM}`],
    ['a map in it', 'A: { hunter22: 1 }', `line 1, column 1: ${FORM}`],
    ['a bad name', 'hunter-22: x', `line 1, column 1: ${FORM}`],
    ['a name twice', 'A: hunter22\nA: b', 'line 2, column 1: the same key is there twice'],
    ['an alias', 'A: &a hunter22\nB: *a', 'line 2, column 4: YAML aliases are not allowed'],
    ['a tag', 'A: !x hunter22', 'line 1, column 4: custom tags are not allowed'],
    ['a mistake', 'A: "hunter22', expect.stringMatching(/^line 1, column \d+: /)],
  ])('with %s are an error, and a problem of the servers that need one', async (_what, yaml, message) => {
    const files = { 'variables.yml': yaml, 'a.json': servers({ needy: { command: '${A:-x}' }, good: echo }) }
    const found = await readEnvironment({ files })
    expect(found.errors).toEqual([{ file: 'default/variables.yml', message }])
    expect(found.servers).toMatchObject([
      {
        config: {
          problem: expect.stringMatching(/^its variables cannot be read: environments\/default\/variables.yml: /),
        },
      },
      { config: { target: { command: 'echo' } } },
    ])
    expect(JSON.stringify(found)).not.toContain('hunter')
  })

  test('of a file that cannot be read are an error', async () => {
    await using root = await temporaryFolder()
    await mkdir(join(root.path, 'default', 'variables.yml'), { recursive: true })
    const { read } = createServerFiles({ root: root.path, variables: {}, builtIn: {} })
    const errors = [{ file: 'default/variables.yml', message: 'is not a file' }]
    expect(await read('default')).toEqual({ servers: [], errors })
  })
})
