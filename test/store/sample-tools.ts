// MCP servers and their tools as the store's tests need them.

import type { Store } from '../../src/store/store.ts'
import type { SyncedServer } from '../../src/store/tools/servers-write.ts'
import type { ListedToolText } from '../../src/store/tools/tools-write.ts'
import { everyPage } from './sample.ts'

export const server = (name: string, more: Partial<SyncedServer> = {}): SyncedServer => ({
  ...{
    name,
    file: `env/${name}.json`,
    transport: 'stdio',
    shown: { command: 'node', args: [`${name}.js`] },
    config_hash: `${name}-1`,
  },
  ...{ status: 'idle', error: null, keeps_tools: true },
  ...more,
})

export const sync = (store: Store, environment_id: number, servers: SyncedServer[]) =>
  store.write('syncServers', { environment_id, servers })

export const tool = (own_name: string, more: Partial<ListedToolText> = {}): ListedToolText => ({
  ...{ own_name, description: `Does ${own_name}`, input_schema: '{"type":"object"}', annotations: '{}' },
  ...more,
})

interface Listing {
  config_hash?: string
  complaint?: string | null
}

/** The server says that it has these. */
export const list = (
  store: Store,
  environment_id: number,
  name: string,
  tools: (string | ListedToolText)[],
  { config_hash = `${name}-1`, complaint = null }: Listing = {},
) =>
  store.write('recordTools', {
    ...{ environment_id, name, config_hash, complaint },
    tools: tools.map((one) => (typeof one === 'string' ? tool(one) : one)),
  })

export const everyServer = (store: Store, environment?: string) =>
  everyPage((page) => store.servers.list({ environment }, page))

/** By name, each with its id. */
export const idsByName = async (store: Store, environmentId: number): Promise<Record<string, number>> =>
  Object.fromEntries((await store.tools.ofEnvironment(environmentId)).map(({ name, id }) => [name, id]))

export const namesOf = async (store: Store, environmentId: number): Promise<string[]> =>
  Object.keys(await idsByName(store, environmentId))

/** What the environment says about itself. */
export async function countsOf(store: Store, environmentId: number) {
  const found = await store.environments.findById(environmentId)
  return { servers: found?.mcp_servers_count, tools: found?.tools_count }
}
