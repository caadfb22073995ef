// The first signal asks, its echo is ignored, an impatient later one ends the process.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { firstStopSignal } from '../../src/cli/stop-signals.ts'

function watched() {
  const source = new EventEmitter()
  const exits: number[] = []
  const clock = { ms: 0 }
  const first = firstStopSignal({ source, exit: (code) => exits.push(code), now: () => clock.ms })
  return { source, exits, clock, first }
}

test('the first signal settles the promise and ends nothing', async () => {
  const { source, exits, first } = watched()
  source.emit('SIGTERM')
  await first
  expect(exits).toEqual([])
})

test('a repeat within half a second is the echo of the same key press', async () => {
  const { source, exits, clock } = watched()
  source.emit('SIGINT')
  clock.ms = 500
  source.emit('SIGINT')
  expect(exits).toEqual([])
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('a later %s exits at once with %i', (signal, code) => {
  const { source, exits, clock } = watched()
  source.emit('SIGTERM')
  clock.ms = 501
  source.emit(signal)
  expect(exits).toEqual([code])
})
