/** The one way in, behind every door: agent found, template checked, prompt rendered, the run on disk, then the answer. */
import { createHash } from 'node:crypto'
import { TemplateError } from '../catalog/template/source.ts'
import { parseTemplate, type Template } from '../catalog/template/template.ts'
import { resolveValues } from '../catalog/template/variables.ts'
import type { Clock } from '../clock.ts'
import type { Agent } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import type { FirstMessage, RunAccepted, RunSource } from '../contract/run.ts'
import type { Models } from '../models/models.ts'
import { answerAgain, type RequestKey } from '../store/runs/accept-write.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Feed } from './watch.ts'

interface RunRequest {
  /** Rejects when there is no such agent. Not asked when the request is a repetition. */
  agent: () => Promise<Agent>
  task: string
  variables: Record<string, string>
  timeout_seconds?: number | undefined
  callback_url?: string | undefined
  source: RunSource
  repeatable?: Repeatable | undefined
}

/** What makes a request the same one again. */
export interface Repeatable {
  /** The caller's Idempotency-Key. */
  key: string
  principal: string
  route: string
  /** As parsed JSON. */
  body: unknown
}

interface Acceptance {
  answer: RunAccepted
  replayed: boolean
}

export type Accept = (request: RunRequest) => Promise<Acceptance>

interface AcceptParts {
  store: Store
  models: Pick<Models, 'nameFor'>
  dispatch: Pick<Dispatcher, 'reserve'>
  feed: Feed
  clock: Clock
  log: Log
}

export function createAccept({ store, models, dispatch, feed, clock, log }: AcceptParts): Accept {
  async function earlierAnswer(key: RequestKey): Promise<RunAccepted | undefined> {
    const stored = await store.runs.answerTo(key)
    return stored && answerAgain(stored, key.body_hash, clock.now())
  }

  async function acceptNew(request: RunRequest, request_key: RequestKey | null): Promise<Acceptance> {
    const agent = await request.agent()
    if (!agent.enabled) throw disabled(agent)
    const messages = render(agent, request)
    const place = dispatch.reserve()
    try {
      const accepted = await store.write('acceptRun', {
        agent: { ...pinned(agent), environment_id: Number(agent.environment_id) },
        ...{ task: request.task, variables: request.variables, messages, source: request.source, request_key },
        model: models.nameFor(agent.model),
        timeout_seconds: request.timeout_seconds ?? agent.timeout_seconds,
        callback_url: request.callback_url ?? null,
        full: !place,
        at: clock.now(),
      })
      if (accepted.replayed) place?.give_back()
      else place?.fill({ id: accepted.answer.run_id, agent_id: agent.id, max_concurrency: agent.max_concurrency })
      return accepted
    } catch (error) {
      place?.give_back()
      throw error
    }
  }

  return async (request) => {
    const key = request.repeatable ? toRequestKey(request.repeatable) : null
    const earlier = key && (await earlierAnswer(key))
    if (earlier) return { answer: earlier, replayed: true }
    const accepted = await acceptNew(request, key)
    if (!accepted.replayed) {
      const { run_id, agent_id, agent_name } = accepted.answer
      feed.changed(run_id)
      log.info({ run_id, agent_id, agent_name, source: request.source }, 'run accepted')
    }
    return accepted
  }
}

const pinned = ({ id, name, version, environment }: Agent) => ({ id, name, version, environment })

const disabled = (agent: Agent) =>
  new AppError('AGENT_NOT_FOUND', `Agent '${agent.name}' (ID ${agent.id}) is disabled; enable it to run it`)

/** Read once for as long as the record of this version is kept. */
const templates = new WeakMap<Agent, Template>()

function templateOf(agent: Agent): Template {
  const known = templates.get(agent) ?? parseTemplate(agent.prompt)
  templates.set(agent, known)
  return known
}

function render(agent: Agent, { task, variables }: RunRequest): FirstMessage[] {
  const { values, missing } = resolveValues(agent.variables, variables)
  if (missing.length > 0) {
    const details = missing.map((name) => ({ path: `/variables/${name}`, message: 'is required' }))
    throw new AppError('INVALID_REQUEST', `The prompt needs these variables: ${missing.join(', ')}`, { details })
  }
  try {
    return templateOf(agent).render(values, task)
  } catch (error) {
    if (error instanceof TemplateError) throw new AppError('INVALID_REQUEST', error.message, { cause: error })
    throw error
  }
}

const toRequestKey = ({ key, principal, route, body }: Repeatable): RequestKey => ({
  ...{ key, principal, route },
  body_hash: createHash('sha256').update(canonical(body)).digest('hex'),
})

/** JSON in one spelling: the order in which an object's fields are written does not matter. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`
}
