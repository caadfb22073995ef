// The checker is checked: a good history passes, and each way of going wrong is found, by the rule that is meant to.
import { describe, expect, test } from 'vitest'
import type { RunDetail, Step } from '../../src/contract/run.ts'
import type { AuditLine } from '../support/crash/audit.ts'
import type { RunRow, StepRow } from '../support/crash/database.ts'
import type { LedgerLine } from '../support/ledger/line.ts'
import { check, describeFirst, type History, RULES } from './checker.ts'

const OUTCOME_UNKNOWN = 'The outcome of this call is not known: the service was interrupted while it was being made.'

const run = (id: number, fields: Partial<RunRow> = {}): RunRow => ({
  ...{ id, agent_id: 1, status: 'completed', phase: null, epoch: 2, attempts: 2, crashes: 1, consumed_ms: 10 },
  ...{ journal_seq: 9, steps_count: 4, tool_calls_count: 2, error_code: null, error_message: null },
  ...{ variables: `{"key":"k${id}"}` },
  ...fields,
})

const step = (run_id: number, key: string, position: number, fields: Partial<StepRow> = {}): StepRow => ({
  ...{ run_id, key, position, seq: position + 1, epoch: 1, name: 'offline/offline', status: 'completed' },
  ...{ type: key.includes('.') ? 'tool' : 'model', attempts: 1, error: null, output: '"x"' },
  ...fields,
})

const audit = (what: AuditLine['what'], run_id: number, key: string, fields: Partial<AuditLine> = {}): AuditLine => ({
  ...{ life: 1, at: 1, what, run_id, key, before: 'running', after: 'completed', epoch: 1, run_epoch: 1 },
  ...{ run_status: 'running' },
  ...fields,
})

const line = (key: string, phase: 'begin' | 'end', fields: Partial<LedgerLine> = {}): LedgerLine => ({
  ...{ at: 1, life: 1, phase, tool: 'pay', key, input: {} },
  ...fields,
})

const shown = (fields: Partial<Step>) => ({ type: 'tool', status: 'completed', error: null, ...fields }) as Step

/** A run with a call that was recorded, a crash during the second one, and the rest of it in the next life. */
function good(): History {
  const told = 'pay: paid 1:1.0\npay failed: '
  return {
    told: { accepted: [{ key: 'k1', run_id: 1 }], cancelling: [], cancelled: [] },
    records: [
      {
        ...{ id: 1, status: 'completed', model: 'offline/offline', result: `${told}${OUTCOME_UNKNOWN}` },
        steps: [
          shown({ type: 'model' }),
          shown({ name: 'pay', output: 'paid 1:1.0' }),
          shown({ type: 'model' }),
          shown({ name: 'pay', output: null, status: 'unknown', error: OUTCOME_UNKNOWN }),
        ],
      } as RunDetail,
    ],
    ledger: [line('1:1.0', 'begin'), line('1:1.0', 'end'), line('1:2.0', 'begin')],
    safe: new Set(['lookup']),
    database: {
      runs: [run(1)],
      steps: [
        step(1, '1', 0),
        step(1, '1.0', 1, { name: 'pay', output: '"paid 1:1.0"' }),
        step(1, '2', 2),
        step(1, '2.0', 3, { name: 'pay', status: 'unknown', output: null, error: OUTCOME_UNKNOWN, epoch: 2 }),
      ],
      counts: [
        { agent_id: 1, status: 'running', count: 0 },
        { agent_id: 1, status: 'completed', count: 1 },
      ],
      keys: [{ key: 'k1', response: '{"run_id":1}' }],
      audit: [
        audit('accept', 1, '', { epoch: 0, run_epoch: 0 }),
        audit('claim', 1, ''),
        audit('intent', 1, '1'),
        audit('outcome', 1, '1'),
        audit('intent', 1, '1.0'),
        audit('outcome', 1, '1.0'),
        audit('outcome', 1, '2'),
        audit('intent', 1, '2.0'),
        audit('claim', 1, '', { life: 2, epoch: 2, run_epoch: 2 }),
        audit('outcome', 1, '2.0', { life: 2, epoch: 2, run_epoch: 2, after: 'unknown' }),
        audit('ending', 1, '', { life: 2, epoch: 2, run_epoch: 2, run_status: 'completed' }),
      ],
      damage: [],
    },
  }
}

const second = { epoch: 2, run_epoch: 2, life: 2 }

/** Each entry: the rule, what went wrong in plain words, and the change that makes a good history this bad. */
const BAD: [rule: string, what: string, spoil: (history: History) => void][] = [
  ['no accepted run is lost', 'a 202 for a run that is not stored', ({ told }) => told.accepted.push(ghost)],
  ['every run ends', 'a run that still executes', ({ database }) => set(database.runs[0], { status: 'running' })],
  ['a run ends once', 'a second ending', ({ database }) => database.audit.push(ending('completed'))],
  ['a run ends once', 'an end without a trace', ({ database }) => database.audit.pop()],
  [
    'only the owner writes',
    'a step of an owner before',
    ({ database }) => database.audit.splice(9, 0, stale('outcome')),
  ],
  ['only the owner writes', 'an intent after the end', ({ database }) => database.audit.push(late)],
  ['only the owner writes', 'an epoch that falls', ({ database }) => database.audit.push(audit('claim', 1, ''))],
  ['one run for one key', 'two answers for a key', ({ told }) => told.accepted.push({ key: 'k1', run_id: 2 })],
  [
    'one run for one key',
    'two runs for a key',
    ({ database }) => database.runs.push(run(2, { variables: '{"key":"k1"}' })),
  ],
  [
    'one run for one key',
    'a key kept for another run',
    ({ database }) => set(database.keys[0], { response: '{"run_id":7}' }),
  ],
  ['a recorded step is not executed again', 'a call after its outcome', (history) => again(history, { life: 2 })],
  ['a recorded step is not executed again', 'more calls than attempts', (history) => again(history, {})],
  ['a recorded step is not executed again', 'an outcome over an outcome', ({ database }) => database.audit.push(over)],
  ['an unsafe call is made once', 'a repeated payment', (history) => repeated(history, 'pay')],
  ['every call belongs to a step', 'a call that no step knows', (history) => add(history, line('1:9.0', 'begin'))],
  [
    'what nobody can know is shown as unknown',
    'a success that nobody heard of',
    ({ database }) => pretend(database.steps[3]),
  ],
  [
    'what nobody can know is shown as unknown',
    'an unknown that is not shown',
    ({ records }) => pretend(records[0]?.steps[3]),
  ],
  [
    'what nobody can know is shown as unknown',
    'an unknown without a reason',
    ({ records }) => set(records[0]?.steps[3], { error: 'oh' }),
  ],
  [
    'what nobody can know is shown as unknown',
    'a success that was never tried',
    (history) => without(history, '1:1.0'),
  ],
  [
    'an answer belongs to its call',
    'the answer of another call',
    ({ database }) => set(database.steps[1], { output: '"paid 1:2.0"' }),
  ],
  [
    'the model reads what was recorded',
    'an answer that the model never read',
    ({ records }) => set(records[0], { result: 'Done.' }),
  ],
  ['a journal is whole', 'a step that is missing', ({ database }) => database.steps.splice(2, 1)],
  ['a journal is whole', 'a step still open', ({ database }) => set(database.steps[2], { status: 'running' })],
  ['a journal is whole', 'a wrong number of steps', ({ database }) => set(database.runs[0], { steps_count: 5 })],
  ['a journal is whole', 'a step beyond the journal', ({ database }) => set(database.steps[2], { seq: 10 })],
  ['a cancelled run ends as cancelled', 'a cancel that was forgotten', ({ told }) => told.cancelled.push(1)],
  ['no run fails without a reason', 'an error of our own', (history) => fail(history, 'INTERNAL_ERROR', 'a mistake')],
  [
    'no run fails without a reason',
    'a cancel that nobody asked for',
    (history) => fail(history, 'CANCELLED', 'Cancelled'),
  ],
  ['no run fails without a reason', 'poison after one crash', (history) => fail(history, 'INTERNAL_ERROR', POISON)],
  [
    'time never goes back',
    'less consumed than before',
    ({ database }) => database.audit.push(audit('time-went-back', 1, '', second)),
  ],
  ['the counters are right', 'one run too many', ({ database }) => set(database.counts[1], { count: 2 })],
  ['the counters are right', 'a negative count', ({ database }) => set(database.counts[0], { count: -1 })],
  ['the database is sound', 'a torn page', ({ database }) => database.damage.push('row 1 missing from index')],
]

const POISON = 'The service went down 5 times while this run was executing; it is not tried again'
const ghost = { key: 'k2', run_id: 2 }
const ending = (before: string) => audit('ending', 1, '', { ...second, before, run_status: 'completed' })
const stale = (what: AuditLine['what']) => audit(what, 1, '2', { ...second, epoch: 1 })
const late = audit('intent', 1, '3', { ...second, run_status: 'completed' })
const over = audit('outcome', 1, '1.0', { ...second, before: 'completed' })

const set = <Row extends object>(row: Row | undefined, fields: Partial<Row>) => Object.assign(row ?? {}, fields)
const add = (history: History, added: LedgerLine) => set(history, { ledger: [...history.ledger, added] })
const again = (history: History, fields: Partial<LedgerLine>) => add(history, line('1:1.0', 'begin', fields))
const without = (history: History, key: string) =>
  set(history, { ledger: history.ledger.filter((written) => written.key !== key) })
const pretend = (claim: { status: string } | undefined) => set(claim, { status: 'completed' })

function repeated(history: History, name: string): void {
  set(history.database.steps[1], { name, attempts: 2 })
  again(history, {})
}

function fail({ database }: History, error_code: string, error_message: string): void {
  set(database.runs[0], { status: 'error', error_code, error_message })
}

describe('the history checker', () => {
  test('a good history has no violation, and what it went through is counted', () => {
    const history = good()
    expect(check(history)).toEqual({ violations: [], runs: 1, unknown: 1, repeated: 0, poisoned: 0 })
  })

  test('a call that may be repeated may be made twice', () => {
    const history = good()
    repeated(history, 'lookup')
    set(history.records[0]?.steps[1], { name: 'lookup' })
    set(history.records[0], { result: `lookup: paid 1:1.0\npay failed: ${OUTCOME_UNKNOWN}` })
    expect(check(history)).toMatchObject({ violations: [], repeated: 1 })
  })

  test('a run that went down with its service five times may fail, and is counted', () => {
    const history = good()
    const claims = Array.from({ length: 4 }, (_, index) =>
      audit('claim', 1, '', { epoch: index + 2, run_epoch: index + 2 }),
    )
    fail(history, 'INTERNAL_ERROR', POISON)
    set(history.database.runs[0], { crashes: 5 })
    set(history.database.counts[1], { status: 'error' })
    history.database.audit.splice(8, 1, ...claims, audit('claim', 1, '', { epoch: 6, run_epoch: 6, life: 2 }))
    for (const later of history.database.audit.slice(-2)) set(later, { epoch: 6, run_epoch: 6 })
    set(history.records[0], { status: 'error' })
    expect(check(history)).toMatchObject({ violations: [], poisoned: 1 })
  })

  test.each(BAD)('%s: %s is found', (rule, _what, spoil) => {
    const history = good()
    spoil(history)
    const verdict = check(history)
    expect(verdict.violations.map((violation) => violation.rule)).toContain(rule)
    expect(describeFirst(verdict, history)).toContain(verdict.violations[0]?.rule)
  })

  test('no rule is without a bad history', () => {
    expect(new Set(BAD.map(([rule]) => rule))).toEqual(new Set(Object.keys(RULES)))
  })
})
