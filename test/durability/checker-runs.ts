// What must hold for every run as a whole: accepted means there, there means ended, ended means once.
import type { Rule } from './checker-facts.ts'

/** The one reason for which a crash may end a run. */
export const POISONED = 'The service went down 5 times while this run was executing; it is not tried again'

export const runRules = {
  *'no accepted run is lost'({ told }, { runs, records }) {
    for (const { key, run_id } of told.accepted) {
      if (!runs.has(run_id)) yield [run_id, `was accepted as ${key} and is not in the database`]
      else if (!records.has(run_id)) yield [run_id, `was accepted as ${key} and has no record`]
    }
  },

  *'every run ends'({ database, records }) {
    for (const { id, status, phase } of database.runs) if (status === 'running') yield [id, `is still ${phase}`]
    for (const { id, status } of records) if (status === 'running') yield [id, 'is running according to its record']
  },

  *'a run ends once'({ database }, { auditOf }) {
    for (const { id, status } of database.runs) {
      const endings = (auditOf.get(id) ?? []).filter(({ what }) => what === 'ending')
      const told = endings.map(({ before, after, life }) => `${before} to ${after} in life ${life}`).join(', ')
      if (status !== 'running' && endings.length !== 1) yield [id, `ended ${endings.length} times: ${told}`]
      if (endings.some(({ before }) => before !== 'running')) yield [id, `ended after its end: ${told}`]
    }
  },

  *'only the owner writes'({ database }) {
    const latest = new Map<number, number>()
    for (const { what, run_id, key, epoch, run_epoch, run_status } of database.audit) {
      const seen = latest.get(run_id) ?? 0
      if (run_epoch < seen) yield [run_id, `went back from epoch ${seen} to ${run_epoch}`]
      latest.set(run_id, Math.max(seen, run_epoch))
      const isOurs = what === 'intent' || what === 'again' || what === 'outcome'
      if (isOurs && run_status === 'running' && epoch !== run_epoch)
        yield [run_id, `has ${what} of step ${key} from epoch ${epoch} while epoch ${run_epoch} owns it`]
      if (isOurs && run_status !== 'running' && what !== 'outcome')
        yield [run_id, `has ${what} of step ${key} after its end`]
    }
  },

  *'one run for one key'({ told, database }) {
    const answers = Map.groupBy(told.accepted, ({ key }) => key)
    for (const [key, given] of answers) {
      const ids = new Set(given.map(({ run_id }) => run_id))
      if (ids.size > 1) yield [Math.min(...ids), `and others were given for key ${key}: ${[...ids].join(', ')}`]
    }
    const stored = Map.groupBy(database.runs, ({ variables }) => JSON.parse(variables).key as string | undefined)
    for (const [key, runs] of stored) {
      if (key !== undefined && runs.length > 1)
        yield [runs[0]?.id ?? 0, `is one of ${runs.length} runs stored for key ${key}`]
    }
    const kept = new Map(database.keys.map(({ key, response }) => [key, JSON.parse(response).run_id as number]))
    for (const { key, run_id } of told.accepted) {
      if (kept.get(key) !== run_id)
        yield [run_id, `was answered for key ${key}, which is kept for run ${kept.get(key)}`]
    }
  },

  *'a cancelled run ends as cancelled'({ told }, { runs }) {
    for (const id of told.cancelled) {
      const run = runs.get(id)
      if (run?.error_code !== 'CANCELLED') yield [id, `was cancelled and ended as ${run?.error_code ?? run?.status}`]
    }
  },

  *'no run fails without a reason'({ database, told }, { auditOf }) {
    const asked = new Set(told.cancelling)
    for (const run of database.runs.filter(({ status }) => status === 'error')) {
      const taken = (auditOf.get(run.id) ?? []).filter(({ what }) => what === 'claim').length
      if (run.error_code === 'CANCELLED' && asked.has(run.id)) continue
      if (run.error_message === POISONED && run.crashes === 5 && taken > 5) continue
      yield [run.id, `failed: ${run.error_code} ${run.error_message} (${run.crashes} crashes)`]
    }
  },

  *'time never goes back'({ database }) {
    for (const { what, run_id, before } of database.audit)
      if (what === 'time-went-back') yield [run_id, `had consumed ${before} ms, and then less`]
  },

  *'the counters are right'({ database }) {
    const real = new Map([...Map.groupBy(database.runs, (run) => `${run.agent_id} ${run.status}`)].map(count))
    const kept = new Map(database.counts.map(({ agent_id, status, count }) => [`${agent_id} ${status}`, count]))
    for (const name of new Set([...real.keys(), ...kept.keys()])) {
      const [counted, there] = [kept.get(name) ?? 0, real.get(name) ?? 0]
      if (counted !== there) yield [0, `of agent ${name} are counted ${counted} and there are ${there}`]
    }
  },

  *'the database is sound'({ database }) {
    for (const message of database.damage) yield [0, message]
  },
} satisfies Record<string, Rule>

const count = <Row>([name, rows]: [string, Row[]]): [string, number] => [name, rows.length]
