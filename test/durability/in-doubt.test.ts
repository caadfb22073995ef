// A tool call was under way when the service was killed: who may make it again, and who is told that nobody knows.
import { expect } from 'vitest'
import { proves } from '../spec/proves.ts'
import { createClient } from '../support/crash/client.ts'
import { createLives } from '../support/crash/lives.ts'
import type { LedgerLine } from '../support/ledger/line.ts'
import { until } from '../support/until.ts'
import { expectGoodHistory } from './history.ts'

/** What the operator says about the server, by the prefix that its tools have here. */
const PROMISES = {
  '': {},
  trusted: { trusted: true },
  safe: { retry: 'safe' },
  never: { trusted: true, retry: 'never' },
} as const

/** Each tool is called once, and the service is killed before it answers. */
const REPEATED = ['safe_pay', 'safe_lookup', 'trusted_lookup', 'trusted_put']
const UNKNOWN = ['pay', 'lookup', 'put', 'trusted_pay', 'never_lookup', 'never_put']

proves(
  ['engine.in-doubt-unknown', 'engine.in-doubt-retry-safe', 'engine.in-doubt-trusted', 'engine.call-key'],
  'a call in doubt is made again with the same key where the operator said so, and is unknown elsewhere',
  async () => {
    await using lives = await createLives({ promises: PROMISES })
    const client = createClient(lives.current)
    const first = await lives.start()
    await client.createAgent({ name: 'worker', prompt: 'Work.' })
    const ids = new Map<string, number>()
    for (const tool of [...REPEATED, ...UNKNOWN]) {
      const task = `call ${tool} {"hang":"once"}`
      ids.set(tool, await client.execute({ agent: 'worker', key: tool, task }))
    }
    await until('every call is under way', () => lives.ledger().length === ids.size)
    await first.end('SIGKILL')
    await lives.start()

    const callsOf = (tool: string): LedgerLine[] =>
      lives.ledger().filter(({ phase, key }) => phase === 'begin' && key.startsWith(`${ids.get(tool)}:`))
    for (const tool of REPEATED) {
      const { status, steps } = await client.ended(ids.get(tool) ?? 0)
      expect({ tool, status, step: steps[1] }).toMatchObject({ status: 'completed', step: { status: 'completed' } })
      expect(steps[1]).toMatchObject({ name: tool, attempts: 2, error: null })
      expect(callsOf(tool).map(({ key, life }) => ({ key, life }))).toEqual([
        { key: `${ids.get(tool)}:1.0`, life: 1 },
        { key: `${ids.get(tool)}:1.0`, life: 2 },
      ])
    }
    for (const tool of UNKNOWN) {
      const { status, result, steps } = await client.ended(ids.get(tool) ?? 0)
      expect({ tool, status, step: steps[1] }).toMatchObject({ status: 'completed', step: { status: 'unknown' } })
      expect(steps[1]).toMatchObject({ name: tool, attempts: 1, output: null })
      expect(steps[1]?.error).toMatch(/outcome of this call is not known/)
      // The offline model's last word quotes what it was told.
      expect(result).toBe(`${tool} failed: ${steps[1]?.error}`)
      expect(callsOf(tool).map(({ key }) => key)).toEqual([`${ids.get(tool)}:1.0`])
    }
    const { verdict } = await expectGoodHistory({ lives, client, safe: new Set(REPEATED) })
    expect(verdict).toMatchObject({ unknown: UNKNOWN.length, repeated: REPEATED.length })
  },
)
