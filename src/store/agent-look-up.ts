/**
 * Finding an agent by what a caller has in hand, as every start of a run does. Which version counts is read anew each
 * time; the version itself never changes, so its record is kept.
 */
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Agent } from '../contract/agent.ts'
import type { AgentKey } from './agents-write.ts'
import { prepare, VALUE } from './prepared.ts'
import type { Tables } from './schema.ts'

/** Characters of all prompts that are kept together. */
const MOST_KEPT = 16 * 1024 * 1024

/** An agent as the catalog keeps it: its record, and the prompt file it came from. */
export interface FiledAgent {
  agent: Agent
  file: string | null
}

export interface AgentLookUp {
  byId(id: number): Promise<FiledAgent | undefined>
  /** Every agent with exactly this name, in one environment or in all. */
  byName(name: string, environment?: string): Promise<Agent[]>
}

export function createAgentLookUp(db: Kysely<Tables>, read: (key: AgentKey) => Promise<Agent>): AgentLookUp {
  const present = () => db.selectFrom('agents as a').where('a.removed_at', 'is', null)
  const inEnvironment = () => present().innerJoin('environments as e', 'e.id', 'a.environment_id')
  const byId = prepare(db, present().where('a.id', '=', VALUE).select(['a.id', 'a.version', 'a.file']))
  const byName = prepare(db, present().where('a.name', '=', VALUE).orderBy('a.id').select(['a.id', 'a.version']))
  const byFullName = prepare(
    db,
    inEnvironment().where('e.name', '=', VALUE).where('a.name', '=', VALUE).select(['a.id', 'a.version']),
  )
  const kept = new LRUCache<string, Agent>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ prompt }) => prompt.length + 1000,
  })

  async function recordOf(key: AgentKey): Promise<Agent> {
    const name = `${key.id}:${key.version}`
    const known = kept.get(name)
    if (known) return known
    const agent = Object.freeze(await read(key))
    kept.set(name, agent)
    return agent
  }

  return {
    async byId(id) {
      const [found] = await byId(id)
      return found && { agent: await recordOf(found), file: found.file }
    },
    byName: sharedWithinTurn(async (name, environment) => {
      const found = environment === undefined ? await byName(name) : await byFullName(environment, name)
      return Promise.all(found.map(recordOf))
    }),
  }
}

/** Starts of runs come in swarms, and ask for the same agent: within one turn of the event loop they share the answer. */
function sharedWithinTurn(ask: AgentLookUp['byName']): AgentLookUp['byName'] {
  const asked = new Map<string, Promise<Agent[]>>()
  return (name, environment) => {
    const key = `${environment ?? ''}/${name}`
    const answer = asked.get(key) ?? ask(name, environment)
    if (asked.size === 0) setImmediate(() => asked.clear())
    asked.set(key, answer)
    return answer
  }
}
