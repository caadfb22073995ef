/** The environments over REST, and their sync with the folders. */
import { z } from 'zod'
import type { Environments } from '../catalog/environments.ts'
import type { Sync } from '../catalog/sync.ts'
import { environment, environmentName, syncReport, syncRequest } from '../contract/environment.ts'
import { pageQuery } from '../contract/page.ts'
import { type Route, route } from './route.ts'

const byName = z.object({ name: environmentName })
const tag = 'Environments'

export const environmentRoutes = (environments: Environments, sync: Sync): Route[] => [
  route({
    ...{ method: 'GET', path: '/environments', scope: 'read', tag, name: 'listEnvironments' },
    summary: 'List environments',
    query: z.object(pageQuery(100)),
    status: 200,
    answers: environment,
    list: true,
    errors: [],
    async handle({ query }) {
      const { items, total } = await environments.list(query)
      return { data: items, page: { ...query, total } }
    },
  }),
  route({
    ...{ method: 'GET', path: '/environments/:name', scope: 'read', tag, name: 'getEnvironment' },
    summary: 'Read an environment',
    params: byName,
    status: 200,
    answers: environment,
    errors: ['ENVIRONMENT_NOT_FOUND'],
    handle: async ({ params }) => ({ data: await environments.get(params.name) }),
  }),
  route({
    ...{ method: 'POST', path: '/environments/:name/sync', scope: 'admin', tag, name: 'syncEnvironment' },
    summary: 'Bring agents in line with the prompt files of the folder, and reconnect its MCP servers',
    params: byName,
    body: syncRequest,
    bodyOptional: true,
    status: 200,
    answers: syncReport,
    errors: ['ENVIRONMENT_NOT_FOUND'],
    handle: async ({ params, body }) => ({ data: await sync.one(params.name, body) }),
  }),
]
