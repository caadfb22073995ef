/** Where what is known about a server is kept: how it does, and its last good list of tools. */
import type { ServerStatus } from '../../contract/mcp-server.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ToolList } from '../connection/connection.ts'
import type { ServerConfig } from '../servers/server-config.ts'

export interface Memory {
  /** Resolves once it can be read. Never rejects. */
  report(status: ServerStatus, error: string | null): Promise<void>
  remember(list: ToolList): Promise<void>
}

interface MemoryParts {
  config: ServerConfig
  environment_id: number
  store: Store
  clock: { now(): number }
  log: Log
}

/** What belongs to an older configuration of the server is not written any more: the store compares the hash. */
export function createMemory({ config, environment_id, store, clock, log }: MemoryParts): Memory {
  const { environment, name, hash: config_hash } = config
  const place = { environment_id, name, config_hash }
  return {
    async report(status, error) {
      if (status === 'down') log.warn({ environment, server: name, error }, 'a tool server is down')
      else log.debug({ environment, server: name, status }, 'a tool server has changed its status')
      await store.write('reportServer', { ...place, status, error, at: clock.now() }).catch((failure) => {
        log.warn({ environment, server: name, err: failure }, 'the status of a tool server could not be stored')
      })
    },
    async remember({ tools, complaint }) {
      await store.write('recordTools', {
        ...place,
        complaint,
        tools: tools.map(({ name: own_name, description, input_schema, annotations }) => ({
          own_name,
          description,
          input_schema: JSON.stringify(input_schema),
          annotations: JSON.stringify(annotations),
        })),
      })
    },
  }
}
