/** What `POST /execute` takes. Senders are alert tools: a field that we do not know is theirs, and ignored. */
import { z } from 'zod'
import type { Agents } from '../catalog/agents.ts'
import type { Agent } from '../contract/agent.ts'
import { AppError, type ErrorDetail } from '../contract/errors.ts'
import { task, variables } from '../contract/run.ts'
import { IDEMPOTENCY_KEY, idempotencyKey } from '../http/idempotency-key.ts'
import { check, refuseProblems } from '../http/problems.ts'

const MOST_NAME_CHARACTERS = 1000

/** Templates of alert tools fill what they do not have with these. */
const present = (value: unknown): unknown => (value === '' || value === 0 || value === null ? undefined : value)

const fromDecimal = (value: unknown): unknown =>
  typeof value === 'string' && /^[1-9]\d*$/.test(value) ? Number(value) : value

const fields = z.object({
  agent_name: z.preprocess(present, z.string().max(MOST_NAME_CHARACTERS).optional()),
  agent_id: z.preprocess((value) => fromDecimal(present(value)), z.int().positive().optional()),
  task,
  variables: variables.default({}),
})

export type Execution = z.output<typeof fields> & { key: string | undefined }

/** Throws INVALID_REQUEST that names everything that is wrong. */
export function readExecution(body: unknown, key: string | undefined): Execution {
  const problems: ErrorDetail[] = []
  const read = check(fields, body, '', problems)
  if (namesNoAgent(body)) problems.unshift({ path: '', message: 'must have agent_name or agent_id' })
  const checkedKey = check(idempotencyKey.optional(), key, `/header/${IDEMPOTENCY_KEY}`, problems)
  refuseProblems(problems)
  return { ...(read as z.output<typeof fields>), key: checkedKey }
}

function namesNoAgent(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  const { agent_name, agent_id }: { agent_name?: unknown; agent_id?: unknown } = body
  return present(agent_name) === undefined && present(agent_id) === undefined
}

/** By id, by name, or by both when they mean the same one. */
export async function findAgent(agents: Agents, { agent_id, agent_name }: Execution): Promise<Agent> {
  if (agent_id === undefined) return agents.getByName(agent_name ?? '')
  const agent = await agents.get(agent_id)
  if (agent_name === undefined || (await idOf(agents, agent_name)) === agent.id) return agent
  const name = `${agent.environment}/${agent.name}`
  throw new AppError(
    'INVALID_REQUEST',
    `agent_name and agent_id are not the same agent: agent ${agent_id} is '${name}'; send one of them`,
  )
}

async function idOf(agents: Agents, name: string): Promise<number | undefined> {
  try {
    return (await agents.getByName(name)).id
  } catch (error) {
    if (error instanceof AppError && error.code === 'AGENT_NOT_FOUND') return undefined
    throw error
  }
}
