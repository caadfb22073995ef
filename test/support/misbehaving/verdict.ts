// The facts of a trial: the call ended as it should and in time, and nobody else noticed anything.
import { expect } from 'vitest'
import { until } from '../until.ts'
import type { Outcome } from './outcomes.ts'
import { GOOD_CALLS, TIMEOUT_MS, type Trial } from './trial.ts'

const matching = (value: unknown) => (value instanceof RegExp ? expect.stringMatching(value) : (value ?? null))

export function expectOutcome(
  { run, step, meanwhile, complaints }: Trial,
  { status, error, output, down }: Outcome,
): void {
  expect(run).toMatchObject({ status: 'completed', error: null })
  expect(step).toMatchObject({ status, error: matching(error), output: matching(output) })
  expect(step?.duration_ms).toBeLessThanOrEqual(TIMEOUT_MS + 1000)
  expect(run.steps.filter(({ name }) => name === 'fine')).toMatchObject([
    { status: 'completed' },
    { status: 'completed' },
  ])
  if (down) expect(complaints).toEqual([matching(down)])
  expectUntouched(meanwhile)
}

function expectUntouched({ status, steps }: Trial['meanwhile']): void {
  const calls = steps.filter(({ type }) => type === 'tool')
  expect(status).toBe('completed')
  expect(calls.map((call) => call.status)).toEqual(Array(GOOD_CALLS).fill('completed'))
  expect(Math.max(...calls.map(({ duration_ms }) => duration_ms ?? Infinity))).toBeLessThan(TIMEOUT_MS)
}

/** Who needs its tools is told why they are not there. */
export async function expectDown({ server, runOf }: Trial, why: RegExp): Promise<void> {
  const record = await until('its record says down', async () => {
    const found = await server()
    return found.status === 'down' && found
  })
  expect(record).toMatchObject({ error: matching(why), tools_count: 0 })
  const { error } = await runOf('Go.', { tools: ['fault'] })
  expect(error).toMatchObject({
    code: 'TOOLS_UNAVAILABLE',
    message: expect.stringContaining('fault. The server bad is not to be had: '),
  })
}

export async function expectUp({ server, recovered }: Trial, { tools = 2, complaint }: Outcome): Promise<void> {
  await recovered()
  const record = await server()
  const tools_count = tools === 'growing' ? expect.any(Number) : tools
  expect(record).toMatchObject({ status: 'up', error: matching(complaint), tools_count })
}
