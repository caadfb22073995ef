/** The agents: found, made, changed, removed. A file agent's file changes with it, and the file goes first. */
import type { Clock } from '../clock.ts'
import type { Agent, AgentCreate, AgentUpdate, Definition } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import type { AgentFilter, FiledAgent } from '../store/agents.ts'
import { agentNotFound } from '../store/agents-write.ts'
import type { Store } from '../store/store.ts'
import { changedDefinition, definitionOf, fileDefinition, newDefinition, parsed, sameDefinition } from './definition.ts'
import type { Environments } from './environments.ts'
import { type Folders, PROMPT_SUFFIX } from './folders.ts'
import type { OneAtATime } from './one-at-a-time.ts'
import { editPromptFile } from './prompt-file/edit.ts'
import { readPromptFile } from './prompt-file/read.ts'
import { PromptFileError } from './prompt-file/text.ts'

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

  /** Reads, changes and writes again from the start when somebody else was faster. */
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

  /** The file is the truth: what it says now is what gets changed, not what the last sync saw. */
  async function updateFiled(agent: Agent, file: string, change: AgentUpdate): Promise<Agent> {
    const found = await folders.readPrompt(agent.environment, file)
    if (!found) throw fileGone(agent, file)
    if ('error' in found) throw mendFirst(file, found.error)
    const before = found.text
    const current = definitionIn(before, file)
    const wanted = differences(current, changedDefinition(current, change))
    const after = orConflict(file, () => editPromptFile(before, wanted))
    const definition = definitionIn(after, file)
    await refuseTakenName(agent, definition.name)
    if (after !== before) await folders.writePrompt(agent.environment, file, after)
    try {
      return await save(agent, file, definition)
    } catch (error) {
      if (after !== before) await folders.writePrompt(agent.environment, file, before)
      throw error
    }
  }

  async function refuseTakenName(agent: Agent, name: string): Promise<void> {
    const [taken] = await store.agents.named(name, agent.environment)
    if (taken && taken.id !== agent.id) {
      throw new AppError('AGENT_EXISTS', `An agent named '${name}' exists already in ${agent.environment}`)
    }
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
      if (change.prompt !== undefined) parsed(change.prompt)
      const { agent } = await find(id)
      if (change.environment_id !== undefined) refuseMove(agent, change.environment_id)
      if (agent.source === 'api') return updateStored(id, change)
      return oneAtATime(agent.environment, async () => {
        const { agent, file } = await find(id)
        return updateFiled(agent, file ?? '', change)
      })
    },

    async remove(id) {
      const { agent } = await find(id)
      await oneAtATime(agent.environment, async () => {
        const { file } = await find(id)
        if (file) await folders.removePrompt(agent.environment, file)
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

const definitionIn = (text: string, file: string): Definition =>
  orConflict(file, () => fileDefinition(readPromptFile(text), file.slice(0, -PROMPT_SUFFIX.length)))

/** A file that a person broke, or wrote in a way we cannot edit, is for that person to mend. */
function orConflict<Result>(file: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof PromptFileError || error instanceof AppError) throw mendFirst(file, error.message)
    throw error
  }
}

const mendFirst = (file: string, problem: string) =>
  new AppError('CONFLICT', `The prompt file ${file} has to be mended by hand first: ${problem}`)

/** Only what really changes goes into the file; variables are written the way prompt files declare them. */
function differences(current: Definition, wanted: Definition): Parameters<typeof editPromptFile>[1] {
  const changed = Object.entries(wanted).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(current[key as keyof Definition]),
  )
  const { variables, ...rest } = Object.fromEntries(changed) as Partial<Definition>
  return { ...rest, ...(variables ? { variables: declarations(variables) } : {}) } as never
}

const declarations = (variables: Definition['variables']) =>
  Object.fromEntries(
    variables.map(({ name, default: value, description }) => [
      name,
      { ...(description === null ? {} : { description }), ...(value === null ? {} : { default: value }) },
    ]),
  )
