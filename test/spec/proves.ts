// Ties a test to the rules of the spec that it proves; coverage.test.ts reads these calls from the sources.
import { type TestFunction, test } from 'vitest'
import type { RuleId } from './rules.ts'

/** Ids are written as literals in the call: the coverage test scans for them. */
export function proves(ids: RuleId | readonly RuleId[], title: string, fn: TestFunction, timeoutMs?: number): void {
  test(`${title} [${[ids].flat().join(', ')}]`, fn, timeoutMs)
}
