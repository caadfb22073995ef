// The one connection of a server under everything at once: nobody ever makes a second one, and nothing is left over.
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Connection, ServerFailure } from '../../src/tools/connection/connection.ts'
import { type Crowd, createCrowd, type Member } from '../../src/tools/supervisor/crowd.ts'
import { createLink, type LinkParts } from '../../src/tools/supervisor/link.ts'
import { type Supervised, supervise, TIMING } from '../../src/tools/supervisor/supervised.ts'
import { at, configOf, program } from '../support/connection/connections.ts'
import { aWhile, createFrailConnections, type FrailConnections } from '../support/frail-connections.ts'
import { type Dice, dice } from '../support/seed.ts'

const HASTY = { ...TIMING, first_ms: 2, longest_ms: 6, stable_ms: 20, patience_ms: 20, idle_ms: 8 }
const { signal } = new AbortController()

const linkOf = (parts: Pick<LinkParts, 'make'> & Partial<LinkParts>) =>
  createLink({
    ...{ onGone() {}, report: async () => {}, isWanted: () => true, clock: systemClock, timing: HASTY },
    ...parts,
  })

/** The first attempt fails, and somebody asks for a connection this many microtasks later. */
async function askAfterFailure(microtasks: number): Promise<{ attempts: number; left: number }> {
  let attempts = 0
  let open = 0
  let asked: Promise<unknown> = Promise.resolve()
  async function make(): Promise<Connection> {
    attempts += 1
    if (attempts === 1) {
      void askLater()
      throw new ServerFailure('unreachable', 'not the first time')
    }
    await delay(1)
    open += 1
    const close = async () => {
      open -= 1
    }
    return { lost: new Promise(() => {}), close } as unknown as Connection
  }
  async function askLater() {
    for (let tick = 0; tick < microtasks; tick++) await null
    asked = link.connected(signal).catch(() => undefined)
  }
  // Without a pause, an attempt too many begins in the same moment as the right one.
  const link = linkOf({ make, timing: { ...HASTY, first_ms: 0 } })
  await link.connected(signal).catch(() => undefined)
  await asked
  await link.connected(signal)
  await link.close()
  return { attempts, left: open }
}

test('whoever asks right after a failure makes no connection of their own', async () => {
  for (let microtasks = 0; microtasks < 16; microtasks++)
    expect(await askAfterFailure(microtasks), `${microtasks} microtasks after`).toEqual({ attempts: 2, left: 0 })
})

test('a link that is closed while it connects leaves nothing open, and connects no more', async () => {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let closed = 0
  const close = async () => {
    closed += 1
  }
  const connection = { lost: new Promise(() => {}), close } as unknown as Connection
  const make = () => {
    begun.resolve()
    return gate.promise.then(() => connection)
  }
  const link = linkOf({ make })
  const asked = link.connected(signal)
  asked.catch(() => undefined)
  await begun.promise
  const closing = link.close()
  gate.resolve()
  await closing
  await expect(asked).rejects.toThrow('not used any more')
  expect(closed).toBe(1)
  await expect(link.connected(signal)).rejects.toThrow('not used any more')
  await expect(link.connectedNow()).rejects.toThrow('not used any more')
})

/** One link, used in every way in every order. Places are entered with every connection and left with its end. */
async function useLink(seed: number): Promise<{ seed: number; most: number; left: number; places: number }> {
  const fate = dice(seed)
  let places = 0
  const onOpen = () => {
    places += 1
  }
  const connections = createFrailConnections(fate, { onOpen })
  const { roll } = fate
  const onGone = () => {
    places -= 1
  }
  const link = linkOf({ make: connections.make, onGone, isWanted: () => roll(2) === 1, report: () => aWhile(fate) })
  const jobs: Promise<unknown>[] = []
  const withCurrent = (act: (connection: Connection) => void) => {
    const current = link.current()
    if (current) act(current)
  }
  const ways = [
    ...Array.from({ length: 4 }, () => () => void jobs.push(link.connected(signal).catch(() => undefined))),
    () => void jobs.push(link.connectedNow().catch(() => undefined)),
    () => void jobs.push(link.rest()),
    () => withCurrent((connection) => link.drop(connection, 'it was no good')),
    () => withCurrent(link.renew),
  ]
  for (let step = 0; step < 40; step++) {
    ways[roll(ways.length) - 1]?.()
    await aWhile(fate)
  }
  await link.close()
  const left = connections.open()
  await Promise.all(jobs)
  return { seed, most: connections.mostOpen(), left: left + connections.open(), places }
}

/** Rounds at the same time, so that they disturb each other; one seed of all brings the same choices again. */
const seeds = (count: number) => {
  const { seed } = dice()
  return Array.from({ length: count }, (_, index) => seed + index)
}

test('a link has one connection at most, even while the last one closes, and none when it is closed', async () => {
  const rounds = await Promise.all(seeds(200).map(useLink))
  expect(rounds.filter(({ most, left, places }) => most > 1 || left > 0 || places !== 0)).toEqual([])
  expect(rounds.filter(({ most }) => most === 1).length).toBeGreaterThan(150)
})

type Kind = 'stdio' | 'http'

const TARGETS = { stdio: program('none'), http: at('http://localhost/mcp') }

/** One whose calls, lists and writes go wrong now and then. */
function frailServer(fate: Dice, kind: Kind, parts: { crowd: Crowd; make: FrailConnections['make'] }): Supervised {
  const memory = {
    report: () => aWhile(fate),
    remember: () => aWhile(fate).then(() => fate.roll(10) > 1),
    close() {},
  }
  return supervise({
    config: configOf(TARGETS[kind], { timeout_ms: 30, connect_timeout_ms: 20 }),
    ...{ heard: false, after: Promise.resolve(), memory, crowd: parts.crowd, clock: systemClock },
    connect: (_config, { onToolsChanged }, wanted) =>
      parts.make(wanted).finally(() => {
        if (fate.roll(3) === 1) onToolsChanged()
      }),
    timing: { ...HASTY, list_age_ms: 5, list_pause_ms: 1, list_again_ms: 2 },
  })
}

const stranger = (): Member => ({
  config: configOf(TARGETS.stdio),
  ...{ isResting: () => false, usedAt: () => 0, rest: async () => {} },
})

/** Whether all of the crowd's places can be had. */
const isEmpty = (crowd: Crowd): Promise<boolean> =>
  Promise.all(Array.from({ length: CAP }, () => crowd.enter(stranger(), AbortSignal.timeout(2000)))).then(
    () => true,
    () => false,
  )

const CAP = 2

/** Three servers that share two places. */
async function useServers(seed: number, kind: Kind) {
  const fate = dice(seed)
  const { roll } = fate
  const crowd = createCrowd(CAP)
  const connections = createFrailConnections(fate, { hasSessions: kind === 'http' })
  const servers = Array.from({ length: 3 }, () => frailServer(fate, kind, { crowd, make: connections.make }))
  const any = () => servers[roll(servers.length) - 1] as Supervised
  const call = () => any().call({ name: 'x', input_schema: {} }, {}, { key: 'k', signal })
  const ways = [call, call, call, call, () => any().refresh(), () => any().rest()]
  const jobs: Promise<unknown>[] = []
  for (let step = 0; step < 40; step++) {
    jobs.push(ways[roll(ways.length) - 1]?.().catch(() => undefined) ?? Promise.resolve())
    await aWhile(fate)
  }
  await Promise.all(servers.map((server) => (roll(2) === 1 ? server.close() : server.retire())))
  const left = connections.open()
  await Promise.all(jobs)
  return { seed, most: connections.mostOpen(), left: left + connections.open(), isEmpty: await isEmpty(crowd) }
}

test('processes of servers are never more than there are places, and leave every place again', async () => {
  const rounds = await Promise.all(seeds(150).map((seed) => useServers(seed, 'stdio')))
  expect(rounds.filter(({ most, left, isEmpty }) => most > CAP || left > 0 || !isEmpty)).toEqual([])
  expect(rounds.filter(({ most }) => most === CAP).length).toBeGreaterThan(100)
})

test('servers that forget their sessions leave no connection behind', async () => {
  const rounds = await Promise.all(seeds(150).map((seed) => useServers(seed, 'http')))
  expect(rounds.filter(({ left }) => left > 0)).toEqual([])
  expect(rounds.filter(({ most }) => most > CAP).length).toBeGreaterThan(100)
})
