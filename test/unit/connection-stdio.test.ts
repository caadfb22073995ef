// A connection to a stdio server: real processes, from the well-behaved to the hostile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { describe, expect, test, vi } from 'vitest'
import { keepLastWords } from '../../src/tools/connection/stdio/last-words.ts'
import { createOutbox } from '../../src/tools/connection/stdio/outbox.ts'
import { createMask } from '../../src/tools/servers/secrets/mask.ts'
import {
  connected,
  EVERYTHING,
  failureOf,
  modernServer,
  oddServer,
  program,
  type TestConnection,
} from '../support/connection/connections.ts'
import { hostileTarget } from '../support/hostile/entries.ts'
import { LARGE_BYTES } from '../support/hostile/lists.ts'
import { piecesOf } from '../support/hostile/pieces.ts'
import { isAlive, processesWith } from '../support/processes.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const textOf = async (connection: TestConnection, tool: string, input = {}) =>
  (await connection.ask(tool, input)).output

describe('a server that behaves', () => {
  test('of the older era lists its tools and answers calls', async () => {
    await using connection = await connected(program(process.execPath, EVERYTHING, 'stdio'))
    const { tools, complaint } = await connection.list({ timeout_ms: 10_000 })
    expect(complaint).toBeNull()
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({ input_schema: { type: 'object' } })
    expect(await connection.ask('echo', { message: 'hi' })).toEqual({ output: 'Echo: hi', is_error: false })
  })

  test.each(['both', 'modern-only'])('of the SDK that speaks %s eras is called with the key', async (eras) => {
    for (let time = 0; time < 2; time++) {
      await using connection = await connected(modernServer(eras))
      expect((await connection.list({ timeout_ms: 10_000 })).tools.map(({ name }) => name)).toEqual(['greet', 'change'])
      expect(await textOf(connection, 'greet', { name: 'Ada' })).toBe('hello Ada (7:3)')
    }
  })

  test.each(['both', 'modern-only'])('of %s eras says that its tools have changed', async (eras) => {
    await using connection = await connected(modernServer(eras))
    await until('the change is heard', async () => {
      await connection.ask('change')
      return connection.changes() > 0
    })
  })

  test('sees its own variables and few others', async () => {
    const target = { ...oddServer(), env: { GIVEN: 'yes' } }
    await using connection = await connected(target)
    const { output } = await connection.ask('meta')
    expect(output).toMatchObject({ env: { GIVEN: 'yes', PATH: process.env.PATH } })
    expect(output).not.toHaveProperty('env.VITEST')
  })

  test('without tools has an empty list', async () => {
    await using connection = await connected(oddServer('no-tools'))
    expect(await connection.list({ timeout_ms: 5_000 })).toEqual({ tools: [], complaint: null })
  })

  test('that asks something back is told that nobody answers that', async () => {
    await using connection = await connected(oddServer())
    expect(await textOf(connection, 'asks-back')).toContain('Method not found')
  })
})

describe('answers', () => {
  test('that are not text come as the JSON the server sent, masked', async () => {
    await using connection = await connected(oddServer())
    expect((await connection.ask('picture')).output).toEqual([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }])
    expect((await connection.ask('odd-parts')).output).toEqual([{ type: 'smell' }, 7])
    expect(await textOf(connection, 'echo', { text: 'my s3cret' })).toBe('my ••••')
  })

  test('survive noise, broken characters and lines in pieces around them', async () => {
    await using connection = await connected(oddServer())
    expect(await textOf(connection, 'noise')).toBe('héllo → wörld')
    expect(await textOf(connection, 'wrong-ids')).toBe('right')
  })

  test('of nearly 10 MiB are taken', async () => {
    await using connection = await connected(oddServer())
    expect(await textOf(connection, 'huge-id-first', { bytes: 10 * MIB - 1_000 })).toHaveLength(10 * MIB - 1_000)
  })

  test.each(['huge-id-first', 'huge-id-last'])('of 11 MiB fail one call and not the connection (%s)', async (tool) => {
    await using connection = await connected(oddServer())
    const other = connection.ask('wrong-ids')
    expect(await failureOf(connection.ask(tool, { bytes: 11 * MIB }))).toMatchObject({
      kind: 'rubbish',
      message: 'the answer is larger than 10 MiB',
    })
    expect((await other).output).toBe('right')
    expect(await textOf(connection, 'echo', { text: 'alive' })).toBe('alive')
  })

  test('nested without end are refused', async () => {
    await using connection = await connected(oddServer())
    expect((await connection.ask('deep', { levels: 100 })).is_error).toBe(false)
    expect(await failureOf(connection.ask('deep', { levels: 5_000 }))).toMatchObject({ kind: 'rubbish' })
    expect(await textOf(connection, 'echo', { text: 'alive' })).toBe('alive')
  })

  test('that refuse a call say why', async () => {
    await using connection = await connected(oddServer())
    expect(await failureOf(connection.ask('refuse'))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('no such thing'),
    })
  })
})

describe('lists', () => {
  test('keep the good tools and say what is wrong with the others', async () => {
    await using connection = await connected(oddServer('bad-tools'))
    const { tools, complaint } = await connection.list({ timeout_ms: 5_000 })
    expect(tools.map(({ name }) => name)).toEqual(['good', 'odd-rest'])
    expect(tools[0]).toMatchObject({ annotations: { readOnlyHint: true }, input_schema: { type: 'object' } })
    expect(tools[0]?.description).toHaveLength(16 * 1024)
    expect(complaint).toMatch(/^10 tools were left out: one has no name; /)
  })

  test('end after 1,000 tools and 64 pages', async () => {
    await using many = await connected(oddServer('many-tools'))
    const { tools, complaint } = await many.list({ timeout_ms: 10_000 })
    expect(tools).toHaveLength(1_000)
    expect(complaint).toBe('200 tools were left out: there are more than 1000')
    await using endless = await connected(oddServer('endless-pages'))
    expect(await endless.list({ timeout_ms: 10_000 })).toMatchObject({ complaint: expect.stringContaining('64 pages') })
  })

  test('keep 4 MiB of definitions in all', async () => {
    await using connection = await connected(hostileTarget('large-tools'))
    const { tools, complaint } = await connection.list({ timeout_ms: 20_000 })
    expect(JSON.stringify(tools).length).toBeLessThan(4 * MIB)
    expect(tools).toHaveLength(Math.floor((4 * MIB) / LARGE_BYTES))
    expect(complaint).toBe(`${1_000 - tools.length} tools were left out: together they are larger than 4 MiB`)
  })

  test('end with a cursor of null', async () => {
    await using connection = await connected(hostileTarget('null-cursor'))
    const { tools, complaint } = await connection.list({ timeout_ms: 5_000 })
    expect({ names: tools.map(({ name }) => name), complaint }).toEqual({ names: ['only'], complaint: null })
  })

  test('with members called __proto__ change no prototype', async () => {
    await using connection = await connected(hostileTarget('prototypes'))
    const { tools } = await connection.list({ timeout_ms: 5_000 })
    expect(tools).toHaveLength(1)
    expect({}).not.toHaveProperty('polluted')
    for (const value of [tools[0], tools[0]?.input_schema, tools[0]?.annotations]) {
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(value).not.toHaveProperty('polluted')
    }
    expect(tools[0]?.annotations.readOnlyHint).toBeUndefined()
  })

  test('that change a thousand times at once are told of a few times', async () => {
    await using connection = await connected(oddServer())
    await connection.ask('storm-of-changes')
    await until('the change is heard', () => connection.changes() > 0)
    await connection.ask('echo')
    expect(connection.changes()).toBeLessThan(10)
  })
})

describe('a connection that fails', () => {
  test('says what is wrong with the command or its folder', async () => {
    expect(await failureOf(connected(program('no-such-command-x')))).toEqual({
      name: 'ServerFailure',
      kind: 'unreachable',
      message: "the command 'no-such-command-x' was not found",
    })
    expect(await failureOf(connected({ ...oddServer(), cwd: '/no/such' }))).toMatchObject({
      message: 'the folder that it is to run in (cwd) does not exist',
    })
    expect(await failureOf(connected(program('/etc/passwd')))).toMatchObject({
      message: expect.stringMatching(/may not be/),
    })
  })

  test('tells the last words of a server that ends at once, clean and masked', async () => {
    expect(await failureOf(connected(oddServer('dies')))).toMatchObject({
      kind: 'unreachable',
      message: 'the server exited with code 3: no configuration for ••••',
    })
  })

  test('ends within its time, and its process with it', async () => {
    const marked = { ...oddServer('mute'), env: { MARK: 'mute-1' } }
    expect(await failureOf(connected(marked, { connect_timeout_ms: 2_500 }))).toMatchObject({
      kind: 'timeout',
      message: 'the server could not be connected within 2.5 s. Its last words: waiting for ••••',
    })
    expect(processesWith('MARK=mute-1')).toEqual([])
  })

  test('ends when nobody wants it any more, and its process with it', async () => {
    const marked = { ...oddServer('mute'), env: { MARK: 'mute-2' } }
    const abort = new AbortController()
    const attempt = failureOf(connected(marked, {}, abort.signal))
    await until('the process is there', () => processesWith('MARK=mute-2').length > 0)
    abort.abort()
    expect(await attempt).toMatchObject({ kind: 'unreachable' })
    expect(processesWith('MARK=mute-2')).toEqual([])
    expect(await failureOf(connected(marked, {}, abort.signal))).toMatchObject({ kind: 'unreachable' })
  })

  test('a program that breaks is quoted with what it broke of, not with where', async () => {
    const broken = program(process.execPath, '-e', 'null.count')
    const { message } = await failureOf(connected(broken))
    expect(message).toMatch(/^the server exited with code 1: .*TypeError: Cannot read properties of null/)
    expect(message).not.toMatch(/node:internal|Node\.js v/)
  })

  test('calls that get no answer time out or are given up, each alone', async () => {
    await using connection = await connected(oddServer())
    expect(await failureOf(connection.ask('silent', {}, { timeout_ms: 100 }))).toMatchObject({
      kind: 'timeout',
      message: 'the server did not answer within 0.1 s',
    })
    const abort = new AbortController()
    const call = connection.ask('silent', {}, { signal: abort.signal })
    abort.abort(new Error('the run is over'))
    await expect(call).rejects.toThrow('the run is over')
    expect(await textOf(connection, 'echo', { text: 'alive' })).toBe('alive')
  })

  test('is lost with its process, and so are the calls in flight', async () => {
    await using connection = await connected(oddServer())
    const waiting = failureOf(connection.ask('silent'))
    const last = failureOf(connection.ask('exit', { text: 'out of s3cret', code: 4 }))
    const reason = 'the server exited with code 4: out of ••••'
    expect(await waiting).toMatchObject({ kind: 'lost', message: reason })
    expect(await last).toMatchObject({ kind: 'lost', message: reason })
    expect(await connection.lost).toBe(reason)
    expect(await failureOf(connection.ask('echo'))).toMatchObject({ kind: 'lost', message: reason })
  })

  test('is lost when the server closes its output and lives on', async () => {
    await using connection = await connected(oddServer())
    const call = failureOf(connection.ask('close-output'))
    expect(await connection.lost).toBe('the server closed its input or output')
    expect(await call).toMatchObject({ kind: 'lost' })
  })

  test('is lost with the first message to a server that has closed its input', async () => {
    await using connection = await connected(oddServer())
    await connection.ask('close-input')
    const call = failureOf(connection.ask('echo'))
    expect(await connection.lost).toBe('the server closed its input or output')
    expect(await call).toMatchObject({ kind: 'lost' })
  })

  test('is closed when a line has no end', async () => {
    await using connection = await connected(oddServer())
    const call = failureOf(connection.ask('endless'))
    expect(await connection.lost).toBe('the server sent a line of more than 64 MiB')
    expect(await call).toMatchObject({ kind: 'lost' })
  })

  test('does not grow when the server stops reading', async () => {
    await using connection = await connected(oddServer())
    await connection.ask('deaf')
    const large = { text: 'x'.repeat(8 * MIB) }
    const calls = Array.from({ length: 8 }, () => failureOf(connection.ask('echo', large, { timeout_ms: 500 })))
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
    expect(kinds).toContain('busy')
    expect(kinds.filter((kind) => kind === 'timeout').length).toBeGreaterThan(0)
  })
})

describe('the last words of a server', () => {
  const secret = 'Tr0ub4dor+Secret/Value=9'
  const mask = createMask([secret])

  test('show no part of a secret that stands where they are cut off', async () => {
    for (let after = 470; after <= 500; after++) {
      const stderr = Readable.from([Buffer.from(`${secret} ${'y'.repeat(after)}`)])
      const lastWords = keepLastWords(stderr, mask)
      await finished(stderr)
      expect(lastWords()).toMatch(/y{470}$/)
      expect(piecesOf(secret).filter((piece) => lastWords().includes(piece))).toEqual([])
    }
  })

  test('are in the failure of a call without any part of a secret', async () => {
    await using connection = await connected(hostileTarget(), { mask })
    const { message } = await failureOf(connection.ask('die', { words: `${secret} ${'y'.repeat(485)}` }))
    expect(message).toMatch(/^the server exited with code 3: .*y{485}$/)
    expect(piecesOf(secret).filter((piece) => message.includes(piece))).toEqual([])
  })
})

describe('what is written to a server', () => {
  /** A process that reads nothing. */
  async function startDeaf() {
    const child = spawn('sleep', ['600'], { stdio: ['pipe', 'ignore', 'ignore'] })
    const ended = once(child, 'exit')
    child.stdin.on('error', () => {})
    const end = async () => {
      child.kill('SIGKILL')
      await ended
    }
    return { input: child.stdin, [Symbol.asyncDispose]: end }
  }

  test('waits up to 32 MiB, then it is busy, and after ten seconds without a move it is stuck', async () => {
    await using deaf = await startDeaf()
    const write = createOutbox(deaf.input)
    for (let time = 0; time < 33; time++) write('x'.repeat(MIB))
    expect(() => write('x')).toThrow(expect.objectContaining({ kind: 'busy' }))
    const now = performance.now()
    using clock = vi.spyOn(performance, 'now').mockReturnValue(now + 9_000)
    expect(() => write('x')).toThrow(expect.objectContaining({ kind: 'busy' }))
    clock.mockReturnValue(now + 10_100)
    expect(() => write('x')).toThrow(expect.objectContaining({ kind: 'unreachable' }))
  })

  test('after a long silence begins with a full ten seconds', async () => {
    await using deaf = await startDeaf()
    const write = createOutbox(deaf.input)
    write('x')
    await until('it is written', () => deaf.input.writableLength === 0)
    using clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
    for (let time = 0; time < 33; time++) write('x'.repeat(MIB))
    expect(clock).toHaveBeenCalled()
    expect(() => write('x')).toThrow(expect.objectContaining({ kind: 'busy' }))
  })
})

describe('closing', () => {
  test('a stubborn server takes less than 3 s, is done once, and is no loss', async () => {
    const connection = await connected({ ...oddServer('stubborn'), env: { MARK: 'stubborn-1' } })
    let isLost = false
    void connection.lost.then(() => {
      isLost = true
    })
    const before = performance.now()
    await Promise.all([connection.close(), connection.close()])
    expect(performance.now() - before).toBeLessThan(3_000)
    expect(processesWith('MARK=stubborn-1')).toEqual([])
    expect(isLost).toBe(false)
  })

  test.each([false, true])('ends what the server has started, in a session of its own: %s', async (detached) => {
    const connection = await connected(oddServer())
    const helper = Number(await textOf(connection, 'helper', { detached }))
    expect(isAlive(helper)).toBe(true)
    await connection.close()
    await until('the helper is gone', () => !isAlive(helper))
  })

  test.each([false, true])(
    'is not needed when the server ends and leaves a helper (detached: %s)',
    async (detached) => {
      await using connection = await connected(oddServer())
      const helper = Number(await textOf(connection, 'helper', { detached }))
      await failureOf(connection.ask('exit', { text: '', code: 0 }))
      expect(await connection.lost).toBe('the server exited with code 0')
      await until('the helper is gone', () => !isAlive(helper))
    },
  )

  test('many connections at once leaves nothing', async () => {
    const target = { ...oddServer(), env: { MARK: 'many-1' } }
    const connections = await Promise.all(Array.from({ length: 8 }, () => connected(target)))
    await Promise.all(connections.map((connection) => connection.close()))
    expect(processesWith('MARK=many-1')).toEqual([])
  })
})
