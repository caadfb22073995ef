// A client that does not give up: it asks again, with the same key, until it has an answer from whichever life of the
// service is there by then. What it was told is the history that the checker believes.
import { setTimeout as delay } from 'node:timers/promises'
import type { RunDetail } from '../../../src/contract/run.ts'
import type { ServiceProcess } from '../service-process.ts'

export interface Told {
  /** Every 202, also the repeated ones. */
  accepted: { key: string; run_id: number }[]
  /** Runs that somebody asked to cancel, answered or not. */
  cancelling: number[]
  /** Runs whose cancel was answered with 202. */
  cancelled: number[]
}

export interface Client {
  readonly told: Told
  createAgent(fields: Record<string, unknown>): Promise<{ id: number; name: string }>
  /** Resolves with the id of the run once it is accepted. */
  execute(request: ExecuteRequest): Promise<number>
  /** Resolves once it is answered: the run is being cancelled, or had ended before. */
  cancel(runId: number): Promise<void>
  run(runId: number): Promise<RunDetail>
  /** Resolves with the run when it has ended, however many lives that takes. */
  ended(runId: number): Promise<RunDetail>
}

interface ExecuteRequest {
  agent: string
  key: string
  task: string
  variables?: Record<string, string>
}

const PAUSE_MS = 5
const PATIENCE_MS = 120_000
/** What may be asked again as it is. */
const LATER: ReadonlySet<number> = new Set([429, 503])

export function createClient(service: () => ServiceProcess | undefined): Client {
  const told: Told = { accepted: [], cancelling: [], cancelled: [] }

  async function ask(door: 'api' | 'agents', path: string, init: RequestInit = {}): Promise<Response> {
    const deadline = performance.now() + PATIENCE_MS
    while (performance.now() < deadline) {
      const answer = await attempt(service()?.[door], path, init)
      if (answer) return answer
      await delay(PAUSE_MS)
    }
    throw new Error(`nobody answered ${path}`)
  }

  const post = (door: 'api' | 'agents', path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(door, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })

  async function run(runId: number, waitSeconds = 0): Promise<RunDetail> {
    return (await expected(await ask('api', `/api/v1/runs/${runId}?wait=${waitSeconds}`), 200)).data
  }

  return {
    told,
    run,
    createAgent: async (fields) => (await expected(await post('api', '/api/v1/agents', fields), 201)).data,
    async execute({ agent, key, task, variables = {} }) {
      const body = { agent_name: agent, task, variables: { ...variables, key } }
      const answer = await expected(await post('agents', '/execute', body, { 'idempotency-key': key }), 202)
      told.accepted.push({ key, run_id: answer.run_id })
      return answer.run_id
    },
    async cancel(runId) {
      told.cancelling.push(runId)
      const answer = await post('api', `/api/v1/runs/${runId}/cancel`, {})
      await expected(answer, 202, 409)
      if (answer.status === 202) told.cancelled.push(runId)
    },
    async ended(runId) {
      let found = await run(runId, 5)
      while (found.status === 'running') found = await run(runId, 5)
      return found
    },
  }
}

/** undefined when there was no answer, or one that asks to come again. */
async function attempt(base: string | undefined, path: string, init: RequestInit): Promise<Response | undefined> {
  if (!base) return undefined
  try {
    const response = await fetch(`${base}${path}`, init)
    // An answer counts when all of it is there.
    const body = await response.text()
    return LATER.has(response.status) ? undefined : new Response(body, response)
  } catch {
    return undefined
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came back is under test
async function expected(response: Response, ...statuses: number[]): Promise<any> {
  const text = await response.text()
  if (!statuses.includes(response.status)) throw new Error(`answered ${response.status}: ${text}`)
  return JSON.parse(text)
}
