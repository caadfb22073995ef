/** The runs over REST: started, listed, read, waited for, cancelled, watched. */
import { z } from 'zod'
import type { Agents } from '../catalog/agents.ts'
import { pageQuery, searchText } from '../contract/page.ts'
import {
  run,
  runAccepted,
  runCancelling,
  runDetail,
  runStart,
  runStatus,
  sourceType,
  waitSeconds,
} from '../contract/run.ts'
import { IDEMPOTENCY_KEY, idempotencyKey, REPLAYED } from '../http/idempotency-key.ts'
import type { Accept, Repeatable } from '../runs/accept.ts'
import type { Runs } from '../runs/runs.ts'
import type { Log } from '../telemetry/log.ts'
import { openEventStream } from './event-stream.ts'
import { type Route, route } from './route.ts'

interface RunRouteParts {
  agents: Agents
  runs: Runs
  accept: Accept
  log: Log
}

const byId = z.object({ id: z.int().positive() })
const wait = z.object({ wait: waitSeconds })
const tag = 'Runs'
/** Who calls where nobody has to say who they are. */
const ANYBODY = 'local'

export const runRoutes = (parts: RunRouteParts): Route[] => [
  startRoute(parts),
  listRoute(parts),
  getRoute(parts),
  cancelRoute(parts),
  eventsRoute(parts),
]

const startRoute = ({ agents, runs, accept }: RunRouteParts): Route =>
  route({
    ...{ method: 'POST', path: '/agents/:id/run', scope: 'execute', tag, name: 'startRun' },
    summary: 'Start a run; with wait, answer 200 when it ended in time',
    params: byId,
    query: wait,
    headers: z.object({ [IDEMPOTENCY_KEY]: idempotencyKey.optional() }),
    body: runStart,
    status: 202,
    answers: runAccepted,
    orElse: { status: 200, answers: runDetail },
    errors: ['AGENT_NOT_FOUND', 'IDEMPOTENCY_KEY_REUSED', 'QUEUE_FULL'],
    async handle({ params, query, headers, body, request }) {
      const { answer, replayed } = await accept({
        agent: () => agents.get(params.id),
        ...body,
        source: { type: 'api', principal: null, ...request.caller },
        repeatable: repeatable(headers[IDEMPOTENCY_KEY], `POST /agents/${params.id}/run`, request.sent),
      })
      const more = { location: `/runs/${answer.run_id}`, headers: replayed ? REPLAYED : {} }
      const ended = query.wait ? await runs.wait(answer.run_id, query.wait, request.signal) : undefined
      return ended && ended.status !== 'running' ? { ...more, data: ended, status: 200 } : { ...more, data: answer }
    },
  })

const repeatable = (key: string | undefined, path: string, body: unknown): Repeatable | undefined =>
  key === undefined ? undefined : { key, principal: ANYBODY, route: path, body }

const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be a time in ISO 8601')

const listRoute = ({ runs }: RunRouteParts): Route =>
  route({
    ...{ method: 'GET', path: '/runs', scope: 'read', tag, name: 'listRuns' },
    summary: 'List runs, newest first',
    query: z.object({
      ...pageQuery(20),
      status: z
        .enum([...runStatus.options, 'failed'])
        .optional()
        .meta({ description: 'failed = error.' }),
      agent_id: z.int().positive().optional(),
      environment: z.string().optional().meta({ description: 'Only of this environment (name).' }),
      source: sourceType.optional(),
      since: moment.optional().meta({ description: 'Accepted at this time (ISO 8601) or later.' }),
      until: moment.optional().meta({ description: 'Accepted before this time (ISO 8601).' }),
      q: searchText.optional().meta({ description: "Part of the task, the result or the agent's name." }),
    }),
    status: 200,
    answers: run,
    list: true,
    errors: [],
    async handle({ query: { page, limit, status, since, until, ...filter } }) {
      const found = await runs.list(
        {
          ...filter,
          status: status === 'failed' ? 'error' : status,
          since: milliseconds(since),
          until: milliseconds(until),
        },
        { page, limit },
      )
      return { data: found.items, page: { page, limit, total: found.total } }
    },
  })

const milliseconds = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time))

const getRoute = ({ runs }: RunRouteParts): Route =>
  route({
    ...{ method: 'GET', path: '/runs/:id', scope: 'read', tag, name: 'getRun' },
    summary: 'Read a run with its steps; with wait, once it ended or the time is over',
    params: byId,
    query: wait,
    status: 200,
    answers: runDetail,
    errors: ['RUN_NOT_FOUND'],
    handle: async ({ params: { id }, query, request }) => ({
      data: query.wait ? await runs.wait(id, query.wait, request.signal) : await runs.get(id),
    }),
  })

const cancelRoute = ({ runs }: RunRouteParts): Route =>
  route({
    ...{ method: 'POST', path: '/runs/:id/cancel', scope: 'execute', tag, name: 'cancelRun' },
    summary: 'Cancel a run: it ends as error with CANCELLED',
    params: byId,
    status: 202,
    answers: runCancelling,
    errors: ['RUN_NOT_FOUND', 'RUN_ALREADY_FINISHED'],
    async handle({ params: { id } }) {
      await runs.cancel(id)
      return { data: { run_id: id, status: 'running', cancelling: true }, location: `/runs/${id}` }
    },
  })

const eventsRoute = ({ runs, log }: RunRouteParts): Route =>
  route({
    ...{ method: 'GET', path: '/runs/:id/events', scope: 'read', tag, name: 'watchRun' },
    summary: 'Watch a run: server-sent events run, step and end, until it ends',
    params: byId,
    headers: z.object({
      'Last-Event-ID': z
        .int()
        .nonnegative()
        .default(0)
        .meta({ description: 'The id of the last event that was received: goes on after it.' }),
    }),
    status: 200,
    answers: z.string().meta({ description: 'Events with the record as data: Step in step, Run in run and end.' }),
    streams: true,
    errors: ['RUN_NOT_FOUND'],
    async handle({ params: { id }, headers, request: { signal } }) {
      return { events: await openEventStream(runs, { id, after: headers['Last-Event-ID'], signal }, log) }
    },
  })
