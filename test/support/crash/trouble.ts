// A store that troubles single runs at a chosen write of their own, while all others go on. Kill the process once all
// are troubled, and each of them was killed at its own point: hundreds of crash points cost one kill.
//
// A run says where in its variable `trouble`, one point for each time that it is taken up: "after:3 before:1" is held
// after the commit of its 3rd write the first time, before its 1st (its claim) the second time, then left alone.
//   before, after   held for ever: the write is not handed over; its commit is never heard of
//   refuse, lose    the database fails once: nothing was written; it was, and the answer is lost
//   steal           another owner takes the run just before
import { AppError } from '../../../src/contract/errors.ts'
import type { Store } from '../../../src/store/store.ts'
import type { WriteName, Writer } from '../../../src/store/writes.ts'

interface Trouble {
  kind: string
  count: number
  seen: number
}

export function withTrouble(store: Store, onTrouble: (runId: number) => void): Store {
  const troubles = new Map<number, Trouble | undefined>()

  async function troubleOf(runId: number, isClaim: boolean): Promise<Trouble | undefined> {
    if (!isClaim) return troubles.get(runId)
    const run = await store.runs.find(runId)
    const [kind = '', count = ''] = run?.variables.trouble?.split(' ')[run.attempts]?.split(':') ?? []
    const trouble = kind === '' ? undefined : { kind, count: Number(count), seen: 0 }
    // A claim that is tried again after a failure belongs to the same taking up.
    if (!troubles.has(runId)) troubles.set(runId, trouble)
    return troubles.get(runId)
  }

  const write = async (name: WriteName, input: never) => {
    const { run_id, id } = (input ?? {}) as { run_id?: number; id?: number }
    const runId = run_id ?? (name === 'claimRun' ? id : undefined)
    const trouble = runId === undefined ? undefined : await troubleOf(runId, name === 'claimRun')
    if (runId === undefined || !trouble || ++trouble.seen !== trouble.count) return store.write(name, input)
    const { kind } = trouble
    if (kind === 'before') return hold(runId)
    if (kind === 'refuse') return fail(runId)
    if (kind === 'steal') await store.write('claimRun', { id: runId, owner: 'a thief', at: Date.now() })
    const result = await store.write(name, input)
    if (kind === 'after') return hold(runId)
    if (kind === 'lose') return fail(runId)
    onTrouble(runId)
    return result
  }

  function hold(runId: number): Promise<never> {
    onTrouble(runId)
    return new Promise(() => {})
  }

  function fail(runId: number): never {
    onTrouble(runId)
    throw new AppError('STORAGE_UNAVAILABLE', 'made up by a test')
  }
  return { ...store, write: write as Writer }
}
