// A writer that is killed again and again: what it acknowledged is there, whatever else is.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { startScript } from '../support/script.ts'
import { dice } from '../support/seed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { everyAgent } from './sample.ts'
import { query } from './sqlite-file.ts'

const KILLS = 15
const MOST_LINES = 400

/** What the writer said about its agents, by id. */
class Ledger {
  readonly present = new Map<number, string>()
  /** Told to go without an answer: may be there or not. */
  readonly inDoubt = new Map<number, string>()
  readonly removed = new Set<number>()

  read(lines: string[]): void {
    for (const line of lines) {
      const [, verb, digits, name = ''] = /^(\w+) (\d+) (.*)$/.exec(line) ?? []
      const id = Number(digits)
      if (verb === 'created') this.present.set(id, name)
      if (verb === 'removing') {
        this.present.delete(id)
        this.inDoubt.set(id, name)
      }
      if (verb === 'removed') {
        this.inDoubt.delete(id)
        this.removed.add(id)
      }
    }
  }
}

test(`${KILLS} kill -9 at random moments lose nothing that was acknowledged and bring nothing back`, async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'agenthost.sqlite')
  const { seed, roll } = dice()
  const ledger = new Ledger()
  for (let kill = 1; kill <= KILLS; kill++) {
    const hint = `seed ${seed}, kill ${kill}`
    const lanes = kill % 2 ? 1 : roll(40)
    await using writer = startScript('write-until-killed', [folder.path, String(lanes)])
    await writer.said(roll(MOST_LINES))
    expect(await writer.end('SIGKILL'), hint).toEqual({ code: null, signal: 'SIGKILL' })
    ledger.read(writer.lines())

    const store = await openSqliteStore(folder.path)
    const found = new Map((await everyAgent(store)).map(({ id, name }) => [id, name]))
    await store.close()
    const lost = [...ledger.present].filter(([id, name]) => found.get(id) !== name)
    expect(lost, hint).toEqual([])
    expect(
      [...ledger.removed].filter((id) => found.has(id)),
      hint,
    ).toEqual([])
    expect(query(file, 'PRAGMA integrity_check'), hint).toEqual([{ integrity_check: 'ok' }])
    expect(query(file, 'PRAGMA foreign_key_check'), hint).toEqual([])
    expect(query(file, 'SELECT agents_count FROM environments'), hint).toEqual([{ agents_count: found.size }])
    const halves = 'SELECT id FROM agents WHERE id NOT IN (SELECT agent_id FROM agent_versions)'
    expect(query(file, halves), hint).toEqual([])
  }
  // At most the last write of each lane was on its way at each kill.
  expect(ledger.present.size, `seed ${seed}`).toBeGreaterThan(KILLS)
}, 60_000)
