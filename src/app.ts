/** The composition root: configuration in, wired parts out. Nobody below knows this file. */
import { join } from 'node:path'
import { createAgents, DEFAULT_ENVIRONMENT } from './catalog/agents.ts'
import { createEnvironments } from './catalog/environments.ts'
import { createExample } from './catalog/example.ts'
import { createFolders } from './catalog/folders.ts'
import { createOneAtATime } from './catalog/one-at-a-time.ts'
import { createSync, type Sync } from './catalog/sync.ts'
import { type Clock, systemClock } from './clock.ts'
import { isLoopback } from './config/rules.ts'
import type { Config } from './config/schema.ts'
import { EXIT } from './contract/exit-codes.ts'
import { StartError } from './contract/start-error.ts'
import { createGuard } from './http/guard.ts'
import { createHealth } from './http/health.ts'
import { type Listener, type ListenOptions, listen } from './http/listen.ts'
import { createPlainApp } from './http/plain-app.ts'
import { createModels } from './models/create.ts'
import { chooseProvider } from './models/select.ts'
import { createRest } from './rest/api.ts'
import { createEngine, type Engine } from './runs/engine.ts'
import { openSqliteStore } from './store/sqlite/open.ts'
import type { Store } from './store/store.ts'
import type { Log } from './telemetry/log.ts'
import { createConnectLater } from './tools/connection/connect-later.ts'
import { reapOrphans, serviceMark } from './tools/connection/stdio/orphans.ts'
import { createServerFiles } from './tools/servers/server-files.ts'
import { createSupervisor, type Supervisor } from './tools/supervisor/supervisor.ts'
import { createToolCatalog } from './tools/tool-catalog.ts'
import { createToolset, type Toolset } from './tools/toolset.ts'
import { VERSION } from './version.ts'
import { createWebhook } from './webhook/execute.ts'

export interface Service {
  addresses: { api: string; mcp: string; agents: string }
  stop(): Promise<void>
}

interface ServiceParts {
  config: Config
  log: Log
  tools?: Toolset
  openStore?: (folder: string) => Promise<Store>
}

export async function startService(parts: ServiceParts): Promise<Service> {
  const { config, log, tools, openStore = openSqliteStore } = parts
  const store = await openStore(join(config.home, 'data'))
  try {
    await createExample(config.home).catch((error) => {
      throw new StartError(`the home folder ${config.home} cannot be set up: ${error.message}`, EXIT.failure, error)
    })
    const app = wire({ config, log, store, tools, clock: systemClock })
    await store.write('ensureEnvironment', { name: DEFAULT_ENVIRONMENT, at: systemClock.now() })
    await store.write('quietServers', null)
    await reapOrphans({ home: config.home, log })
    const listeners = await openPorts(config, app)
    log.info({ home: config.home, version: VERSION }, 'started')
    if (config.local_mode && config.host && !isLoopback(config.host)) {
      log.warn({ host: config.host }, 'open to other machines, without authentication')
    }
    if (chooseProvider(config.ai).offline) log.info('no model is configured: the offline model answers every run')
    await app.engine.start()
    const synced = app.sync.all().catch((error) => log.error({ err: error }, 'the sync at start failed'))
    return {
      addresses: { api: listeners[0].url, mcp: listeners[1].url, agents: listeners[2].url },
      async stop() {
        const within = config.drain_seconds * 1000
        await Promise.all([app.engine.stop(within), ...listeners.map((listener) => listener.close(within))])
        await app.supervisor.stop()
        await synced
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Wired {
  api: Door
  mcp: Door
  agents: Door
  sync: Sync
  engine: Engine
  supervisor: Supervisor
}

interface WireParts {
  config: Config
  log: Log
  store: Store
  /** In place of those of the environments. */
  tools?: Toolset | undefined
  clock: Clock
}

type Door = Pick<ListenOptions, 'fetch' | 'direct'>

/** Everything between the configuration and the ports, callable in process. */
export function wire({ config, log, store, tools, clock }: WireParts): Wired {
  const folders = createFolders(environmentsOf(config))
  const supervisor = createSupervisor({
    ...{ store, clock, log },
    readServers: createServerFiles({ root: environmentsOf(config), variables: config.env, builtIn: BUILT_IN }).read,
    connect: createConnectLater({ log, env: config.env, service: serviceMark(config.home) }),
  })
  const oneAtATime = createOneAtATime()
  const environments = createEnvironments(store)
  const agents = createAgents({ store, environments, folders, clock, oneAtATime })
  const sync = createSync({ store, servers: supervisor, folders, clock, log, oneAtATime })

  const engine = createEngine({
    store,
    models: createModels({ ai: config.ai, log }),
    tools: tools ?? createToolset({ store, supervisor }),
    clock,
    log,
    limits: config,
  })

  const webhook = createWebhook({ agents, accept: engine.accept, config })

  const { allowed_hosts, allowed_origins, host, public_url } = config
  const guardFor = (publicUrl: string | undefined) =>
    createGuard({ allowed_hosts, allowed_origins, host, public_urls: publicUrl ? [publicUrl] : [] })
  const mode = config.local_mode ? 'local' : 'platform'
  const health = createHealth({ store, clock, version: VERSION, mode, model: chooseProvider(config.ai) })
  const status = async () => (await health()).status

  return {
    api: createRest({
      ...{ agents, environments, sync, health, version: VERSION, log },
      tools: createToolCatalog({ store, supervisor }),
      ...{ runs: engine.runs, accept: engine.accept },
      guard: guardFor(public_url.api),
      publicUrl: public_url.api,
      trustProxy: config.trust_proxy,
    }),
    mcp: createPlainApp({ guard: guardFor(public_url.mcp), status, log }),
    agents: createPlainApp({ guard: guardFor(public_url.agents), status, routes: [webhook], log }),
    sync,
    engine,
    supervisor,
  }
}

const environmentsOf = ({ home }: Config) => join(home, 'environments')

/** Where this very program is, for server files that use something of it. */
const BUILT_IN = { AGENTHOST_ROOT: join(import.meta.dirname, '..'), AGENTHOST_NODE: process.execPath }

async function openPorts(config: Config, doors: Wired): Promise<[Listener, Listener, Listener]> {
  const opened: Listener[] = []
  const open = async (label: string, setting: string, port: number, { fetch, direct }: Door) => {
    const listener = await listen({ label, setting, port, host: config.host, fetch, direct })
    opened.push(listener)
    return listener
  }
  try {
    return [
      await open('REST API', 'SVC_API_PORT or --api-port', config.api.port, doors.api),
      await open('management MCP', 'SVC_MCP_PORT or --mcp-port', config.mcp.port, doors.mcp),
      await open('agents and webhook', 'SVC_AGENT_MCP_PORT or --agent-mcp-port', config.agent_mcp.port, doors.agents),
    ]
  } catch (error) {
    await Promise.all(opened.map((listener) => listener.close(0)))
    throw error
  }
}
