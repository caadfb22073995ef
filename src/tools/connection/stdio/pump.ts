/** Takes chunks off a stream as they come, but never works on them for long: others want their turn, too. */
import type { Readable } from 'node:stream'

const SLICE_MS = 8

/** `work` pauses after each small step. The stream waits while there is a backlog. */
export function pump(source: Readable, work: (chunk: Buffer) => Iterator<void>): void {
  const backlog: Buffer[] = []
  let current: Iterator<void> | undefined

  function run(): void {
    const until = performance.now() + SLICE_MS
    for (current ??= next(); current; current = next()) {
      while (!current.next().done) {
        if (performance.now() < until) continue
        source.pause()
        setImmediate(run)
        return
      }
    }
    source.resume()
  }

  function next(): Iterator<void> | undefined {
    const chunk = backlog.shift()
    return chunk && work(chunk)
  }

  source.on('data', (chunk: Buffer) => {
    backlog.push(chunk)
    if (!current) run()
  })
}
