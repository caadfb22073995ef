/** The REST door: every route, the document that describes them, and the page that shows it. */
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Agents } from '../catalog/agents.ts'
import type { Environments } from '../catalog/environments.ts'
import type { Sync } from '../catalog/sync.ts'
import type { Health } from '../contract/health.ts'
import type { Guard } from '../http/guard.ts'
import type { Accept } from '../runs/accept.ts'
import type { Runs } from '../runs/runs.ts'
import type { Log } from '../telemetry/log.ts'
import type { ToolCatalog } from '../tools/tool-catalog.ts'
import { agentRoutes } from './agents.ts'
import type { ApiDocument } from './api-document.ts'
import { DOCS_POLICY, docsPage } from './docs-page.ts'
import { environmentRoutes } from './environments.ts'
import { healthRoute } from './health.ts'
import { mcpServerRoutes } from './mcp-servers.ts'
import { describeApi } from './openapi.ts'
import { type Route, route } from './route.ts'
import { runRoutes } from './runs.ts'
import { PREFIX, serveRoutes } from './server.ts'
import { toolRoutes } from './tools.ts'

export interface RestParts {
  agents: Agents
  environments: Environments
  sync: Sync
  runs: Runs
  accept: Accept
  tools: ToolCatalog
  health: () => Promise<Health>
  guard: Guard
  version: string
  publicUrl: string | undefined
  /** Believe the proxy in front about who calls. */
  trustProxy?: boolean | undefined
  log: Log
}

export function createRest(parts: RestParts): Hono {
  const { agents, environments, sync, runs, accept, tools, health, guard, version, publicUrl, trustProxy, log } = parts
  const described: Route[] = [
    healthRoute(health),
    ...agentRoutes(agents),
    ...runRoutes({ agents, runs, accept, log }),
    ...environmentRoutes(environments, sync),
    ...mcpServerRoutes(tools),
    ...toolRoutes(tools),
    documentRoute(() => document()),
  ]
  const document = once(() => describeApi(described, { version, prefix: PREFIX, server: publicUrl ?? '/' }))
  const page = once(() => docsPage(document()))

  const pages = {
    '/': (c: Context) => c.redirect('/docs'),
    '/docs': (c: Context) => c.html(page(), 200, { 'Content-Security-Policy': DOCS_POLICY }),
  }
  return serveRoutes({ guard, routes: described, pages, publicUrl, trustProxy, log })
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
