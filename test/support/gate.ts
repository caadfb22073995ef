// A tool whose calls stay open until the test lets them through: the moments of a run held still.
import { expect, vi } from 'vitest'
import type { Tool } from '../../src/contract/tool.ts'

export interface Gate {
  tool: Tool
  /** Inputs of the calls so far, in order. */
  calls: unknown[]
  /** Signals of the calls so far. */
  signals: AbortSignal[]
  /** Lets the n-th call through, counted from 0, or every call, also later ones. */
  open(call?: number): void
  /** Resolves when so many calls have come. */
  arrived(count: number): Promise<void>
}

export function createGate(name = 'gate', more: Partial<Tool> = {}): Gate {
  const calls: unknown[] = []
  const signals: AbortSignal[] = []
  const waiting: PromiseWithResolvers<void>[] = []
  let isOpen = false
  return {
    calls,
    signals,
    tool: {
      ...{ name, server: 'gates', description: 'Waits.', input_schema: { type: 'object' }, repeat: 'never' },
      ...more,
      async call(input, { signal }) {
        const call = Promise.withResolvers<void>()
        waiting.push(call)
        signals.push(signal)
        calls.push(input)
        if (!isOpen) await call.promise
        return { output: 'through', is_error: false }
      },
    },
    open(call) {
      if (call !== undefined) return waiting[call]?.resolve()
      isOpen = true
      for (const { resolve } of waiting) resolve()
    },
    arrived: (count) =>
      vi.waitFor(() => expect(calls.length).toBeGreaterThanOrEqual(count), { timeout: 10_000, interval: 5 }),
  }
}
