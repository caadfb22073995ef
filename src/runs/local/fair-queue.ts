/**
 * Who gets the next free slot. Agents take turns; within an agent those in front go first, then the others, each in the
 * order they came. An agent that holds its share of the slots stands back while another one could start.
 * Knows ids and counts only; an agent with nothing waiting, no slot and no begun run leaves no trace.
 */
import { createLane, type Lane } from './lane.ts'

export interface FairQueue {
  /** Ids that wait. */
  readonly waiting: number
  /** Slots that nobody holds. */
  readonly free: number
  /** In front: what was begun already. An id that waits already keeps its place. */
  add(agentId: number, id: number, where: 'front' | 'back'): void
  /** Tells whose it was, when it waited. */
  remove(id: number): number | undefined
  /** The next id to have a slot, which is taken with it; undefined when no slot is free or nobody may have it. */
  take(only?: 'front'): Grant | undefined
  /** Gives a slot of the agent back. */
  release(agentId: number): void
  /** A run begins, with a slot or without: until it ends, the agent's limit stays known. */
  begin(agentId: number): void
  end(agentId: number): void
  /** Slots that the agent may hold, null for any number. One, as long as nobody has said. */
  setLimit(agentId: number, limit: number | null): void
  /** Agents with ids in front. */
  agentsInFront(): number[]
  /** It holds more than its share of the slots while another agent could start. */
  isOverShare(agentId: number): boolean
}

interface Grant {
  agentId: number
  id: number
}

interface Agent {
  readonly id: number
  readonly front: Lane
  readonly back: Lane
  held: number
  begun: number
  limit: number
}

const LIMIT_UNTIL_KNOWN = 1

export function createFairQueue(slots: number): FairQueue {
  const share = Math.max(1, Math.floor((slots * 3) / 4))
  /** In the order of their turns: whoever got a slot goes to the end. */
  const agents = new Map<number, Agent>()
  let waiting = 0
  let busy = 0

  function agentOf(id: number): Agent {
    const known = agents.get(id)
    if (known) return known
    const agent = { id, front: createLane(), back: createLane(), held: 0, begun: 0, limit: LIMIT_UNTIL_KNOWN }
    agents.set(id, agent)
    return agent
  }

  function forgetIfIdle({ id, front, back, held, begun }: Agent): void {
    if (front.size + back.size + held + begun === 0) agents.delete(id)
  }

  /** Whose turn it is. Only one agent at a time can hold its share and leave a slot free, so it is alone in the end. */
  function next(only?: 'front'): Agent | undefined {
    let last: Agent | undefined
    for (const agent of agents.values()) {
      if (!couldStart(agent, only)) continue
      if (agent.held < share) return agent
      last = agent
    }
    return last
  }

  return {
    get waiting() {
      return waiting
    },
    get free() {
      return slots - busy
    },
    add(agentId, id, where) {
      const agent = agentOf(agentId)
      if (agent.front.has(id) || agent.back.has(id)) return
      agent[where].add(id)
      waiting += 1
    },
    remove(id) {
      for (const agent of agents.values()) {
        if (!agent.front.remove(id) && !agent.back.remove(id)) continue
        waiting -= 1
        forgetIfIdle(agent)
        return agent.id
      }
      return undefined
    },
    take(only) {
      const agent = busy < slots ? next(only) : undefined
      const id = agent?.front.take() ?? agent?.back.take()
      if (!agent || id === undefined) return undefined
      waiting -= 1
      busy += 1
      agent.held += 1
      agents.delete(agent.id)
      agents.set(agent.id, agent)
      return { agentId: agent.id, id }
    },
    release(agentId) {
      const agent = agentOf(agentId)
      busy -= 1
      agent.held -= 1
      forgetIfIdle(agent)
    },
    begin(agentId) {
      agentOf(agentId).begun += 1
    },
    end(agentId) {
      const agent = agentOf(agentId)
      agent.begun -= 1
      forgetIfIdle(agent)
    },
    setLimit(agentId, limit) {
      const agent = agents.get(agentId)
      if (agent) agent.limit = limit ?? Number.POSITIVE_INFINITY
    },
    agentsInFront: () => [...agents.values()].filter(({ front }) => front.size > 0).map(({ id }) => id),
    isOverShare(agentId) {
      const agent = agents.get(agentId)
      if (!agent || agent.held <= share) return false
      return agents.values().some((other) => other !== agent && couldStart(other))
    },
  }
}

const couldStart = ({ front, back, held, limit }: Agent, only?: 'front'): boolean =>
  held < limit && (front.size > 0 || (only === undefined && back.size > 0))
