// The process is killed right before and right after every single write that a run's life hangs on: at the 1st, the
// 2nd, the 3rd … until all shapes of runs pass without a kill. Whatever was interrupted goes on in the next life.
import { expect, test } from 'vitest'
import { type Client, createClient } from '../support/crash/client.ts'
import { createLives, type Lives } from '../support/crash/lives.ts'
import { until } from '../support/until.ts'
import { expectGoodHistory } from './history.ts'

const call = (tool: string, input: object = {}) => `call ${tool} ${JSON.stringify(input)}`

/** Longer ones, and calls in parallel, are in crash-pairs.test.ts. */
const SHAPES: Record<string, string> = {
  'no tools': 'Good morning.',
  'calls that may and may not be repeated': [call('lookup'), call('pay')].join('\n'),
  'a failing tool, a large answer': [call('fail'), call('big', { bytes: 100_000 })].join('\n'),
  'cancelled during a call': call('slow', { hang: 'always' }),
  'cancelled while the model speaks': 'sleep 60000',
}

/** One run of each shape, one after the other, so that the n-th write is the same every time. */
async function playAll(lives: Lives, client: Client, batch: string, isOver: () => boolean): Promise<void> {
  for (const [shape, task] of Object.entries(SHAPES)) {
    if (isOver()) return
    const id = await client.execute({ agent: 'worker', key: `${batch} ${shape}`, task, variables: { batch } })
    if (shape.startsWith('cancelled')) {
      await until('it is at work or over', () => isAtWork(lives, client, id, shape))
      await client.cancel(id)
    }
    await client.ended(id)
  }
}

async function isAtWork(lives: Lives, client: Client, id: number, shape: string): Promise<boolean> {
  const { status, steps } = await client.run(id)
  const isCalled = lives.ledger().some(({ key }) => key.startsWith(`${id}:`))
  return status !== 'running' || (shape.endsWith('a call') ? isCalled : steps.length > 0)
}

/** The last write can be seen by a reader just before the kill that follows it: whoever asks once more finds nobody. */
const isGone = (api: string) =>
  fetch(`${api}/api/v1/health`).then(
    () => false,
    () => true,
  )

async function sweep(when: 'before' | 'after'): Promise<number> {
  await using lives = await createLives({ promises: { '': { trusted: true } } })
  const client = createClient(lives.current)
  let leftOver: Promise<void> = Promise.resolve()
  let kills = 0
  for (let n = 1; ; n++) {
    const batch = `${when}:${n}`
    const service = await lives.start({ crash: batch, batch })
    if (n === 1) await client.createAgent({ name: 'worker', prompt: 'Work.' })
    await leftOver
    let isOver = false
    leftOver = playAll(lives, client, batch, () => isOver)
    isOver = await Promise.race([leftOver.then(() => isGone(service.api)), service.ended.then(() => true)])
    if (!isOver) break
    kills += 1
  }
  await expectGoodHistory({ lives, client })
  return kills
}

test.concurrent.each(['before', 'after'] as const)(
  'a kill right %s each write breaks no promise',
  async (when) => {
    const kills = await sweep(when)
    // Every shape has its writes: an accept, a claim, an end, and two for each call.
    expect(kills).toBeGreaterThan(Object.keys(SHAPES).length * 3)
  },
  300_000,
)
