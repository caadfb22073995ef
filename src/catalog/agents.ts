/** The agents: found, made, changed, removed. A file agent's file changes with it, and the file goes first. */
import type { Clock } from '../clock.ts'
import type { Agent, AgentCreate, AgentUpdate, Definition } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import type { FiledAgent } from '../store/agent-look-up.ts'
import type { AgentFilter } from '../store/agents.ts'
import { agentExists, agentNotFound } from '../store/agents-write.ts'
import type { Store } from '../store/store.ts'
import { changedDefinition, definitionOf, newDefinition, parsePrompt, sameDefinition } from './definition.ts'
import type { Environments } from './environments.ts'
import { changeInFile, mendFirst } from './file-change.ts'
import type { Folders } from './folders.ts'
import type { OneAtATime } from './one-at-a-time.ts'

export const DEFAULT_ENVIRONMENT = 'default'

export interface Agents {
  get(id: number): Promise<Agent>
  list(filter: AgentFilter, page: PageRequest): Promise<Page<Agent>>
  /** By `environment/name`, or by bare name: in `default` first, then anywhere when it is the only one. */
  getByName(reference: string): Promise<Agent>
  create(input: AgentCreate): Promise<Agent>
  update(id: number, change: AgentUpdate): Promise<Agent>
  remove(id: number): Promise<void>
  versions(id: number, page: PageRequest): Promise<Page<Agent>>
  version(id: number, version: number): Promise<Agent>
}

interface AgentsParts {
  store: Store
  environments: Environments
  folders: Folders
  clock: Clock
  oneAtATime: OneAtATime
}

export function createAgents({ store, environments, folders, clock, oneAtATime }: AgentsParts): Agents {
  const find = async (id: number): Promise<FiledAgent> => {
    const found = await store.agents.find(id)
    if (!found) throw agentNotFound(id)
    return found
  }
  const get = async (id: number) => (await find(id)).agent

  /** Changes of one agent follow each other; those of a file agent also wait for a sync of its environment. */
  const inTurn = <Result>(agent: Agent, work: (found: FiledAgent) => Promise<Result>): Promise<Result> =>
    oneAtATime(agent.source === 'file' ? agent.environment : `agent ${agent.id}`, async () =>
      work(await find(agent.id)),
    )

  /** Reads, changes and writes again from the start when another process was faster. */
  async function updateStored(id: number, change: AgentUpdate): Promise<Agent> {
    for (let attempt = 1; ; attempt++) {
      const { agent, file } = await find(id)
      const definition = changedDefinition(definitionOf(agent), change)
      try {
        return await save(agent, file, definition)
      } catch (error) {
        if (attempt === 5 || !(error instanceof AppError && error.code === 'CONFLICT')) throw error
      }
    }
  }

  async function save(agent: Agent, file: string | null, definition: Definition): Promise<Agent> {
    if (sameDefinition(definitionOf(agent), definition)) return agent
    const { id, version } = agent
    await store.write('updateAgent', { id, base_version: version, definition, file, at: clock.now() })
    return get(id)
  }

  async function updateFiled(agent: Agent, file: string, change: AgentUpdate): Promise<Agent> {
    const found = await folders.readPrompt(agent.environment, file)
    if (!found) throw fileGone(agent, file)
    if ('error' in found) throw mendFirst(file, found.error)
    const before = found.text
    const { after, definition } = changeInFile(file, before, change)
    await refuseTakenName(agent, definition.name)
    if (after !== before) await folders.writePrompt(agent.environment, file, after)
    try {
      return await save(agent, file, definition)
    } catch (error) {
      await takeBack(agent.environment, file, { before, after })
      throw error
    }
  }

  /** The file as it was, unless somebody has saved it meanwhile. A file that stays changed is healed by the next sync. */
  async function takeBack(environment: string, file: string, { before, after }: { before: string; after: string }) {
    const found = await folders.readPrompt(environment, file)
    if (!found || !('text' in found) || found.text !== after) return
    await folders.writePrompt(environment, file, before).catch(() => undefined)
  }

  async function refuseTakenName(agent: Agent, name: string): Promise<void> {
    const [taken] = await store.agents.named(name, agent.environment)
    if (taken && taken.id !== agent.id) throw agentExists(name, taken.id)
  }

  return {
    get,
    list: (filter, page) => store.agents.list(filter, page),

    async getByName(reference) {
      const slash = reference.indexOf('/')
      const name = reference.slice(slash + 1)
      if (slash >= 0) return theOnly(reference, await store.agents.named(name, reference.slice(0, slash)))
      const [preferred] = await store.agents.named(name, DEFAULT_ENVIRONMENT)
      return preferred ?? theOnly(reference, await store.agents.named(name))
    },

    async create(input) {
      const definition = newDefinition(input)
      const environment = await environments.getByReference(input.environment_id ?? DEFAULT_ENVIRONMENT)
      const environment_id = Number(environment.id)
      const at = clock.now()
      const { id } = await store.write('createAgent', { environment_id, definition, source: 'api', file: null, at })
      return get(id)
    },

    async update(id, change) {
      // What is wrong with the request is said before what is wrong with the record.
      if (change.prompt !== undefined) parsePrompt(change.prompt)
      const { agent } = await find(id)
      if (change.environment_id !== undefined) refuseMove(agent, change.environment_id)
      return inTurn(agent, async ({ agent, file }) =>
        file === null ? updateStored(id, change) : updateFiled(agent, file, change),
      )
    },

    async remove(id) {
      const { agent } = await find(id)
      await inTurn(agent, async ({ file }) => {
        if (file !== null) await folders.removePrompt(agent.environment, file)
        await store.write('removeAgent', { id, at: clock.now() })
      })
    },

    async versions(id, page) {
      await find(id)
      return store.agents.versions(id, page)
    },

    async version(id, version) {
      await find(id)
      const found = await store.agents.version(id, version)
      if (!found) throw new AppError('NOT_FOUND', `Agent ${id} has no version ${version}`)
      return found
    },
  }
}

function theOnly(reference: string, candidates: Agent[]): Agent {
  const [agent, ...others] = candidates
  if (!agent) throw new AppError('AGENT_NOT_FOUND', `No agent with name '${reference}'`)
  if (others.length === 0) return agent
  const names = candidates.map(({ environment, name }) => `${environment}/${name}`).join(', ')
  throw new AppError('INVALID_REQUEST', `More than one agent has the name '${reference}'; say which: ${names}`)
}

function refuseMove(agent: Agent, reference: string): void {
  if (reference === agent.environment_id || reference === agent.environment) return
  const message = `An agent stays in its environment (${agent.environment}); create it anew in the other one`
  throw new AppError('INVALID_REQUEST', message, { details: [{ path: '/environment_id', message }] })
}

const fileGone = (agent: Agent, file: string) =>
  new AppError(
    'CONFLICT',
    `The prompt file ${file} of agent ${agent.id} is gone; sync the environment ${agent.environment} first`,
  )
