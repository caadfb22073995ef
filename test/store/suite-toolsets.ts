// A run keeps the tools that it began with, whatever happens to their servers and whoever executes it.
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { OfferedTool } from '../../src/contract/tool.ts'
import { createRetention } from '../../src/runs/retention.ts'
import type { Store } from '../../src/store/store.ts'
import { AT } from './sample.ts'
import { acceptId, claim, createRunnable, end, intent, outcomeOf, type RunnableAgent, record } from './sample-runs.ts'
import type { OpenStore } from './suite.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const offered = (name: string): OfferedTool => ({
  ...{ name, server: 'files', description: 'Reads', repeat: 'safe' },
  input_schema: { type: 'object', properties: { 'a\nb': { type: 'string' } } },
})

const toolset = (hash: string, tools: OfferedTool[] = [offered(hash)]) => ({ hash, tools: JSON.stringify(tools) })

/** Claims a run and records that it was offered something. */
async function startedWith(store: Store, agent: RunnableAgent, hash: string, at = AT) {
  const run = await claim(store, await acceptId(store, agent, { at }), 'one', at)
  await record(store, run, { toolset: toolset(hash), at })
  return run
}

const forget = (store: Store, unused_since: number, limit = 100) =>
  store.write('forgetToolsets', { unused_since, limit })

export function toolsetFacts(open: OpenStore): void {
  test('a run that nobody executed yet was offered nothing', async () => {
    await using opened = await open()
    const { store } = opened
    const id = await acceptId(store, await createRunnable(store))
    expect((await claim(store, id)).toolset).toBeNull()
    expect((await claim(store, id)).toolset).toBeNull()
  })

  test('what a run was offered is there for whoever claims it next, also after a reopening', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const [some, none] = [await acceptId(store, agent), await acceptId(store, agent)]
    const tools = [offered('read'), { ...offered('files__write'), own_name: 'write' }]
    await record(store, await claim(store, some), { entries: [outcomeOf('1')], toolset: toolset('some', tools) })
    await record(store, await claim(store, none), { toolset: toolset('none', []) })
    const reopened = await opened.reopen()
    expect((await claim(reopened, some, 'two')).toolset).toEqual(tools)
    expect((await claim(reopened, none, 'two')).toolset).toEqual([])
  })

  test('the first offer counts, and recording goes on without one', async () => {
    await using opened = await open()
    const { store } = opened
    const run = await startedWith(store, await createRunnable(store), 'first')
    await record(store, run, { toolset: toolset('second') })
    await record(store, run, { entries: [outcomeOf('1'), intent('2', 1)], toolset: null })
    await record(store, run, { entries: [outcomeOf('2')] })
    expect((await claim(store, run.id, 'two')).toolset).toEqual([offered('first')])
  })

  test('an owner that lost the run, or ended it, offers nothing any more', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const stale = await claim(store, await acceptId(store, agent))
    await claim(store, stale.id, 'two')
    expect(await record(store, stale, { toolset: toolset('late') })).toMatchObject({ owned: false })
    expect((await claim(store, stale.id, 'three')).toolset).toBeNull()
    const ended = await claim(store, await acceptId(store, agent))
    await end(store, ended)
    await record(store, ended, { toolset: toolset('late') })
    expect(await forget(store, AT + DAY_MS)).toBe(0)
  })

  test('runs that are offered the same share it, and it goes once it is old and none of them is unfinished', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const runs = [await startedWith(store, agent, 'shared'), await startedWith(store, agent, 'shared', AT + DAY_MS)]
    await end(store, await startedWith(store, agent, 'alone'))
    // A day is not enough to have the use noted again.
    expect([await forget(store, AT), await forget(store, AT + 1)]).toEqual([0, 1])
    const [first, second] = runs as [(typeof runs)[0], (typeof runs)[0]]
    await end(store, first)
    expect(await forget(store, AT + 1)).toBe(0)
    await store.write('setPhase', { run_id: second.id, epoch: second.epoch, phase: 'waiting' })
    expect(await forget(store, AT + 1)).toBe(0)
    await store.write('releaseRun', { run_id: second.id, epoch: second.epoch })
    expect(await forget(store, AT + 1)).toBe(0)
    const again = await claim(store, second.id, 'two')
    expect(again.toolset).toEqual([offered('shared')])
    await end(store, again)
    expect([await forget(store, AT + 1), await forget(store, AT + 1)]).toEqual([1, 0])
  })

  test('a use after more than a day is noted', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    await end(store, await startedWith(store, agent, 'shared'))
    await end(store, await startedWith(store, agent, 'shared', AT + DAY_MS + 1))
    expect(await forget(store, AT + DAY_MS + 1)).toBe(0)
    expect(await forget(store, AT + DAY_MS + 2)).toBe(1)
  })

  test('old toolsets go the oldest first, a slice at a time', async () => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    for (const day of [3, 1, 2]) await end(store, await startedWith(store, agent, `of day ${day}`, AT + day * DAY_MS))
    expect(await forget(store, AT + 9 * DAY_MS, 2)).toBe(2)
    expect(await forget(store, AT + 3 * DAY_MS, 2)).toBe(0)
    expect(await forget(store, AT + 9 * DAY_MS, 2)).toBe(1)
  })

  test.each([
    [30, 3],
    [0, 0],
  ])('with %i days of retention, %i of the toolsets that are older go by themselves', async (days, expected) => {
    await using opened = await open()
    const { store } = opened
    const agent = await createRunnable(store)
    const ages = [31 * DAY_MS + 1, 40 * DAY_MS, 400 * DAY_MS]
    for (const age of ages) await end(store, await startedWith(store, agent, `old ${age}`, AT - age))
    await end(store, await startedWith(store, agent, 'young', AT - 31 * DAY_MS))
    await createRetention({ store, clock: { now: () => AT }, log: pino({ level: 'silent' }), days }).sweep()
    expect(await forget(store, AT + 1)).toBe(4 - expected)
  })
}
