/** The agents over REST. */
import { z } from 'zod'
import type { Agents } from '../catalog/agents.ts'
import { agent, agentCreate, agentUpdate } from '../contract/agent.ts'
import { pageQuery, searchText } from '../contract/page.ts'
import { type Route, route } from './route.ts'

const id = z.int().positive()
const tag = 'Agents'

export const agentRoutes = (agents: Agents): Route[] => [
  route({
    ...{ method: 'GET', path: '/agents', scope: 'read', tag, name: 'listAgents' },
    summary: 'List agents, by id',
    query: z.object({
      ...pageQuery(20),
      environment: z.string().optional().meta({ description: 'Only of this environment (name).' }),
      enabled: z.boolean().optional(),
      q: searchText.optional().meta({ description: 'Part of the name or the description.' }),
    }),
    status: 200,
    answers: agent,
    list: true,
    errors: [],
    async handle({ query: { page, limit, ...filter } }) {
      const { items, total } = await agents.list(filter, { page, limit })
      return { data: items, page: { page, limit, total } }
    },
  }),
  route({
    ...{ method: 'POST', path: '/agents', scope: 'write', tag, name: 'createAgent' },
    summary: 'Create an agent',
    body: agentCreate,
    status: 201,
    answers: agent,
    errors: ['AGENT_EXISTS', 'ENVIRONMENT_NOT_FOUND'],
    async handle({ body }) {
      const created = await agents.create(body)
      return { data: created, location: `/agents/${created.id}` }
    },
  }),
  route({
    ...{ method: 'GET', path: '/agents/:id', scope: 'read', tag, name: 'getAgent' },
    summary: 'Read an agent',
    params: z.object({ id }),
    status: 200,
    answers: agent,
    errors: ['AGENT_NOT_FOUND'],
    handle: async ({ params }) => ({ data: await agents.get(params.id) }),
  }),
  route({
    ...{ method: 'PUT', path: '/agents/:id', scope: 'write', tag, name: 'updateAgent' },
    summary: 'Change an agent; every change is a new version',
    params: z.object({ id }),
    body: agentUpdate,
    status: 200,
    answers: agent,
    errors: ['AGENT_NOT_FOUND', 'AGENT_EXISTS', 'CONFLICT'],
    handle: async ({ params, body }) => ({ data: await agents.update(params.id, body) }),
  }),
  route({
    ...{ method: 'DELETE', path: '/agents/:id', scope: 'admin', tag, name: 'deleteAgent' },
    summary: 'Remove an agent, and its prompt file if it has one; its runs stay',
    params: z.object({ id }),
    status: 200,
    answers: z.object({ id, deleted: z.literal(true) }),
    errors: ['AGENT_NOT_FOUND', 'CONFLICT'],
    async handle({ params }) {
      await agents.remove(params.id)
      return { data: { id: params.id, deleted: true } }
    },
  }),
  route({
    ...{ method: 'GET', path: '/agents/:id/versions', scope: 'read', tag, name: 'listAgentVersions' },
    summary: 'List the versions of an agent, newest first',
    params: z.object({ id }),
    query: z.object(pageQuery(20)),
    status: 200,
    answers: agent,
    list: true,
    errors: ['AGENT_NOT_FOUND'],
    async handle({ params, query }) {
      const { items, total } = await agents.versions(params.id, query)
      return { data: items, page: { ...query, total } }
    },
  }),
  route({
    ...{ method: 'GET', path: '/agents/:id/versions/:v', scope: 'read', tag, name: 'getAgentVersion' },
    summary: 'Read an agent as it was at one version',
    params: z.object({ id, v: z.int().positive() }),
    status: 200,
    answers: agent,
    errors: ['AGENT_NOT_FOUND', 'NOT_FOUND'],
    handle: async ({ params }) => ({ data: await agents.version(params.id, params.v) }),
  }),
]
