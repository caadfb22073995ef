// Connections that exist only in the test: they fail, get lost and take their time to close as the dice say, and are
// counted as long as anything is left of them.
import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, ServerFailure, SessionLost } from '../../src/tools/connection/connection.ts'
import type { Dice } from './seed.ts'

export interface FrailConnections {
  make(signal: AbortSignal): Promise<Connection>
  /** Those of which something is left, and how many there were at most. */
  open(): number
  mostOpen(): number
}

/** A few microtasks, or a few milliseconds. */
export async function aWhile({ roll }: Dice): Promise<void> {
  if (roll(2) === 1) await delay(roll(4) - 1)
  else for (let tick = roll(8); tick > 1; tick--) await null
}

interface FrailOptions {
  onOpen?: () => void
  /** Over HTTP a server may forget the session; a process has none. */
  hasSessions?: boolean
}

export function createFrailConnections(dice: Dice, options: FrailOptions = {}): FrailConnections {
  let open = 0
  let most = 0
  return {
    open: () => open,
    mostOpen: () => most,
    async make(signal) {
      await aWhile(dice)
      if (signal.aborted || dice.roll(3) === 1) throw new ServerFailure('unreachable', 'it does not want to')
      open += 1
      most = Math.max(most, open)
      options.onOpen?.()
      const onClosed = () => {
        open -= 1
      }
      return openOne(dice, options.hasSessions ? [...FAILURES, forgotten] : FAILURES, onClosed)
    },
  }
}

type Failure = () => ServerFailure

const forgotten: Failure = () => new SessionLost('the session is forgotten')
const FAILURES: readonly Failure[] = [
  () => new ServerFailure('unreachable', 'it is not there'),
  () => new ServerFailure('timeout', 'it says nothing'),
]

function openOne(dice: Dice, failures: readonly Failure[], onClosed: () => void): Connection {
  const lost = Promise.withResolvers<string>()
  if (dice.roll(3) === 1) void delay(dice.roll(10)).then(() => lost.resolve('it died'))
  let closing: Promise<void> | undefined
  return {
    lost: lost.promise,
    async list() {
      await aWhile(dice)
      if (dice.roll(5) === 1) throw new ServerFailure('timeout', 'it does not list')
      return { tools: [], complaint: null }
    },
    async call(_tool, _input, { signal }) {
      await aWhile(dice)
      signal.throwIfAborted()
      const failure = closing ? () => new ServerFailure('lost', 'it was closed') : failures[dice.roll(8) - 1]
      if (failure) throw failure()
      return { output: 'done', is_error: false }
    },
    close: () => (closing ??= aWhile(dice).then(onClosed)),
  }
}
