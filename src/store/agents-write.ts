/** How agents change. Every change adds a version row and moves the agent to it; no version row ever changes. */
import type { AgentSource, Definition } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import { first, only, rows, sql, type Write } from './statement.ts'

export interface AgentKey {
  id: number
  version: number
}

interface CreateAgent {
  environment_id: number
  definition: Definition
  source: AgentSource
  /** Name of the prompt file inside the environment's agents folder. */
  file: string | null
  at: number
}

interface UpdateAgent {
  id: number
  /** The version the change was made from: another one in the database means somebody was faster. */
  base_version: number
  definition: Definition
  file: string | null
  at: number
}

interface StoredAgent extends AgentKey {
  environment_id: number
  name: string
}

export function* createAgent({ environment_id, definition, source, file, at }: CreateAgent): Write<AgentKey> {
  yield* refuseTakenName(environment_id, definition.name)
  const { id } = yield* only<{ id: number }>(sql`
    INSERT INTO agents (environment_id, name, version, source, file, created_at, updated_at)
    VALUES (${environment_id}, ${definition.name}, 1, ${source}, ${file}, ${at}, ${at}) RETURNING id`)
  yield* addVersion({ id, version: 1 }, definition, at)
  yield* countAgents(environment_id, 1, at)
  return { id, version: 1 }
}

export function* updateAgent({ id, base_version, definition, file, at }: UpdateAgent): Write<AgentKey> {
  const agent = yield* present(id)
  if (agent.version !== base_version) throw new AppError('CONFLICT', `Agent ${id} was changed meanwhile; read it again`)
  if (agent.name !== definition.name) yield* refuseTakenName(agent.environment_id, definition.name)
  const version = agent.version + 1
  yield* addVersion({ id, version }, definition, at)
  yield* rows(sql`
    UPDATE agents SET name = ${definition.name}, version = ${version}, file = ${file}, updated_at = ${at}
    WHERE id = ${id}`)
  return { id, version }
}

/** A prompt file that moved is still the same agent, and no new version of it. */
export function* relocateAgent({ id, file }: { id: number; file: string }): Write<null> {
  yield* rows(sql`UPDATE agents SET file = ${file} WHERE id = ${id}`)
  return null
}

/** The row and its versions stay for the runs that point at them; the name is free again. */
export function* removeAgent({ id, at }: { id: number; at: number }): Write<null> {
  const agent = yield* present(id)
  yield* rows(sql`UPDATE agents SET removed_at = ${at}, updated_at = ${at} WHERE id = ${id}`)
  yield* countAgents(agent.environment_id, -1, at)
  return null
}

export const agentNotFound = (id: number): AppError => new AppError('AGENT_NOT_FOUND', `Agent with ID ${id} not found`)

export const agentExists = (name: string, id: number): AppError =>
  new AppError('AGENT_EXISTS', `An agent named '${name}' exists already in this environment (id ${id})`)

function* present(id: number): Write<StoredAgent> {
  const agent = yield* first<StoredAgent>(sql`
    SELECT id, environment_id, name, version FROM agents WHERE id = ${id} AND removed_at IS NULL`)
  if (!agent) throw agentNotFound(id)
  return agent
}

function* refuseTakenName(environmentId: number, name: string): Write<void> {
  const taken = yield* first<{ id: number }>(sql`
    SELECT id FROM agents WHERE environment_id = ${environmentId} AND name = ${name} AND removed_at IS NULL`)
  if (taken) throw agentExists(name, taken.id)
}

function* addVersion({ id, version }: AgentKey, definition: Definition, at: number): Write<void> {
  const { name, description, model, max_steps, timeout_seconds, max_concurrency, prompt } = definition
  const tools = definition.tools && JSON.stringify(definition.tools)
  yield* rows(sql`
    INSERT INTO agent_versions (agent_id, version, name, description, model, tools, notify, enabled, max_steps,
      timeout_seconds, max_concurrency, variables, prompt, created_at)
    VALUES (${id}, ${version}, ${name}, ${description}, ${model}, ${tools}, ${Number(definition.notify)},
      ${Number(definition.enabled)}, ${max_steps}, ${timeout_seconds}, ${max_concurrency},
      ${JSON.stringify(definition.variables)}, ${prompt}, ${at})`)
}

function* countAgents(environmentId: number, difference: number, at: number): Write<void> {
  yield* rows(sql`
    UPDATE environments SET agents_count = agents_count + ${difference}, updated_at = ${at}
    WHERE id = ${environmentId}`)
}
