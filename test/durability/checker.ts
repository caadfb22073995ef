// Judges a whole history: what clients were told, what the records say, what the tools saw, what lies on the disk.
// It knows nothing of the service's code; it only compares. Each rule is a sentence that holds, or names a run.

import { callRules } from './checker-calls.ts'
import { gather, type History, type Rule } from './checker-facts.ts'
import { POISONED, runRules } from './checker-runs.ts'

export type { History }

interface Violation {
  rule: string
  run_id: number
  message: string
}

export interface Verdict {
  violations: Violation[]
  runs: number
  unknown: number
  repeated: number
  poisoned: number
}

export const RULES: Readonly<Record<string, Rule>> = { ...runRules, ...callRules }

export function check(history: History): Verdict {
  const facts = gather(history)
  const violations = Object.entries(RULES).flatMap(([rule, judge]) =>
    [...judge(history, facts)].map(([run_id, message]) => ({ rule, run_id, message })),
  )
  const { runs, steps } = history.database
  return {
    violations,
    runs: runs.length,
    unknown: steps.filter(({ status }) => status === 'unknown').length,
    repeated: steps.filter(({ type, attempts }) => type === 'tool' && attempts > 1).length,
    poisoned: runs.filter(({ error_message }) => error_message === POISONED).length,
  }
}

/** For people: the first run that broke a rule, with all that is known about it. */
export function describeFirst({ violations: [first] }: Verdict, history: History): string {
  if (!first) return 'no violation'
  const { run_id } = first
  const about = {
    run: history.database.runs.find(({ id }) => id === run_id),
    steps: history.database.steps.filter((step) => step.run_id === run_id).map(({ output: _, ...step }) => step),
    audit: history.database.audit.filter((line) => line.run_id === run_id),
    ledger: history.ledger.filter(({ key }) => key.startsWith(`${run_id}:`)),
  }
  return `${first.rule}: run ${run_id} ${first.message}\n${JSON.stringify(about, null, 1)}`
}
