// What must hold for the steps of every run: none lost, none twice, none pretended.
import { callKey, type Rule } from './checker-facts.ts'

const NOT_KNOWN = /not known|ended during this step/
/** How the ledger's tools begin an answer; the key follows. */
const OWN_ANSWER = /^(?:paid|found|stored) (.+)$/
/** Beyond this an answer may have been cut. */
const LONG = 10_000

export const callRules = {
  *'a recorded step is not executed again'({ database }, { begins, outcomes }) {
    for (const step of database.steps) {
      const calls = begins.get(callKey(step)) ?? []
      const outcome = outcomes.get(callKey(step))
      const late = calls.find(({ life }) => outcome && life > outcome.life)
      if (late) yield [step.run_id, `made call ${step.key} in life ${late.life}, recorded in life ${outcome?.life}`]
      if (calls.length > step.attempts)
        yield [step.run_id, `made call ${step.key} ${calls.length} times and recorded ${step.attempts} attempts`]
    }
    for (const { what, run_id, key, before } of database.audit) {
      if (what === 'outcome' && before !== 'running') yield [run_id, `recorded step ${key} over an earlier outcome`]
    }
  },

  *'an unsafe call is made once'({ database, safe }, { begins }) {
    for (const step of database.steps.filter(({ type, name }) => type === 'tool' && !safe.has(name))) {
      const made = begins.get(callKey(step))?.length ?? 0
      if (made > 1) yield [step.run_id, `called ${step.name} ${made} times as ${step.key}`]
    }
  },

  *'every call belongs to a step'({ ledger, database }) {
    const known = new Set(database.steps.map(callKey))
    for (const { key, tool } of ledger)
      if (!known.has(key)) yield [Number.parseInt(key, 10) || 0, `${tool} was called as ${key}`]
  },

  *'what nobody can know is shown as unknown'({ database, records }, { begins, outcomes, stepsOf }) {
    for (const step of database.steps.filter(({ type }) => type === 'tool')) {
      const calls = begins.get(callKey(step)) ?? []
      const outcome = outcomes.get(callKey(step))
      const heard = calls.some(({ life }) => life === outcome?.life)
      if (step.status !== 'unknown' && calls.length > 0 && !heard)
        yield [step.run_id, `says ${step.status} of call ${step.key}, which nobody heard the end of`]
      if (step.status === 'completed' && calls.length === 0)
        yield [step.run_id, `says that call ${step.key} is completed, and it was never made`]
    }
    for (const { id, steps } of records) {
      const stored = stepsOf.get(id)?.filter(({ status }) => status === 'unknown') ?? []
      const shown = steps.filter(({ status }) => status === 'unknown')
      if (shown.length !== stored.length) yield [id, `shows ${shown.length} of ${stored.length} unknown calls`]
      const silent = shown.find(({ error }) => !NOT_KNOWN.test(error ?? ''))
      if (silent) yield [id, `does not say why step ${silent.index} is unknown: ${silent.error}`]
    }
  },

  *'an answer belongs to its call'({ database }) {
    for (const step of database.steps) {
      const output: unknown = step.output === null ? null : JSON.parse(step.output)
      const key = typeof output === 'string' ? OWN_ANSWER.exec(output)?.[1] : undefined
      if (step.type === 'tool' && key !== undefined && key !== callKey(step))
        yield [step.run_id, `has the answer of ${key} at ${step.key}`]
    }
  },

  *'the model reads what was recorded'({ records }) {
    // The offline model's last word quotes every answer it was given.
    for (const { id, status, model, result, steps } of records) {
      if (status !== 'completed' || !model?.startsWith('offline')) continue
      for (const step of steps.filter(({ type }) => type === 'tool')) {
        const told = `${step.name}${step.status === 'completed' ? '' : ' failed'}: ${step.output ?? step.error}`
        if (told.length < LONG && !result?.includes(told)) yield [id, `ended without having read: ${told}`]
      }
    }
  },

  *'a journal is whole'({ database, records }, { stepsOf }) {
    for (const run of database.runs) {
      const steps = stepsOf.get(run.id) ?? []
      if (steps.some(({ position }, index) => position !== index)) yield [run.id, 'has gaps in its steps']
      if (steps.some(({ seq }) => seq > run.journal_seq)) yield [run.id, 'has steps beyond the end of its journal']
      const open = steps.find(({ status }) => status === 'running')
      if (open && run.status !== 'running') yield [run.id, `has ended and step ${open.key} has not`]
      const tools = steps.filter(({ type }) => type === 'tool').length
      if (run.steps_count !== steps.length || run.tool_calls_count !== tools)
        yield [
          run.id,
          `counts ${run.steps_count} steps and ${run.tool_calls_count} calls of ${steps.length} and ${tools}`,
        ]
    }
    for (const { id, steps } of records) {
      if (steps.length !== (stepsOf.get(id)?.length ?? 0)) yield [id, `shows ${steps.length} steps`]
    }
  },
} satisfies Record<string, Rule>
