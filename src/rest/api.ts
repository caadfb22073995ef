/** The REST door: every route, the document that describes them, and the page that shows it. */
import type { Context } from 'hono'
import { z } from 'zod'
import type { Agents } from '../catalog/agents.ts'
import type { Environments } from '../catalog/environments.ts'
import type { Sync } from '../catalog/sync.ts'
import type { Health } from '../contract/health.ts'
import type { Guard } from '../http/guard.ts'
import type { Log } from '../telemetry/log.ts'
import { agentRoutes } from './agents.ts'
import type { ApiDocument } from './api-document.ts'
import { DOCS_POLICY, docsPage } from './docs-page.ts'
import { environmentRoutes } from './environments.ts'
import { healthRoute } from './health.ts'
import { describeApi } from './openapi.ts'
import { type Route, route } from './route.ts'
import { PREFIX, type RestApp, serveRoutes } from './server.ts'

export interface RestParts {
  agents: Agents
  environments: Environments
  sync: Sync
  health: () => Promise<Health>
  guard: Guard
  version: string
  publicUrl: string | undefined
  log: Log
}

export function createRest(parts: RestParts): RestApp {
  const { agents, environments, sync, health, guard, version, publicUrl, log } = parts
  const described: Route[] = [healthRoute(health), ...agentRoutes(agents), ...environmentRoutes(environments, sync)]
  described.push(documentRoute(() => document()))
  const document = once(() => describeApi(described, { version, prefix: PREFIX, server: publicUrl ?? '/' }))
  const page = once(() => docsPage(document()))

  const pages = {
    '/': (c: Context) => c.redirect('/docs'),
    '/docs': (c: Context) => c.html(page(), 200, { 'Content-Security-Policy': DOCS_POLICY }),
  }
  return serveRoutes({ guard, routes: described, pages, publicUrl, log })
}

const documentRoute = (document: () => ApiDocument): Route =>
  route({
    ...{ method: 'GET', path: '/openapi.json', scope: 'public', tag: 'Service', name: 'getOpenApi' },
    summary: 'Describe this API (OpenAPI 3.1)',
    status: 200,
    answers: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApi', description: 'This document.' }),
    bare: true,
    errors: [],
    handle: async () => ({ data: document() }),
  })

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
