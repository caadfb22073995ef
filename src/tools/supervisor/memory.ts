/** Where what is known about a server is kept: how it does, and its last good list of tools. */
import type { ServerStatus } from '../../contract/mcp-server.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ToolList } from '../connection/connection.ts'
import type { ServerConfig } from '../servers/server-config.ts'

export interface Memory {
  /** Resolves once it can be read, or will be later. Never rejects. */
  report(status: ServerStatus, error: string | null): Promise<void>
  /** Resolves with whether it is kept now. Never rejects. */
  remember(list: ToolList): Promise<boolean>
  /** Nothing is tried again after this. */
  close(): void
}

interface MemoryParts {
  config: ServerConfig
  environment_id: number
  store: Store
  clock: { now(): number }
  log: Log
}

/** How long to leave a database alone that could not be written. */
const TRY_AGAIN_MS = 2000

/** What belongs to an older configuration of the server is not written any more: the store compares the hash. */
export function createMemory({ config, environment_id, store, clock, log }: MemoryParts): Memory {
  const { environment, name: server, hash: config_hash } = config
  const place = { environment_id, name: server, config_hash }
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let last: ServerStatus | undefined

  const onTrouble = (err: unknown) => log.warn({ environment, server, err }, 'the state of a tool server is not stored')

  /** Only the newest report matters. */
  async function writeDown(report: { status: ServerStatus; error: string | null; at: number }): Promise<void> {
    clearTimeout(timer)
    await store.write('reportServer', { ...place, ...report }).catch((error) => {
      if (isClosed) return
      onTrouble(error)
      clearTimeout(timer)
      timer = setTimeout(() => void writeDown(report), TRY_AGAIN_MS).unref()
    })
  }

  return {
    async report(status, error) {
      if (status === 'down') log.warn({ environment, server, error }, 'a tool server is down')
      else if (status === 'up' && last === 'down') log.info({ environment, server }, 'a tool server is up again')
      if (status === 'up' || status === 'down') last = status
      await writeDown({ status, error, at: clock.now() })
    },

    async remember({ tools, complaint }) {
      const texts = tools.map(({ name: own_name, description, input_schema, annotations }) => ({
        ...{ own_name, description },
        ...{ input_schema: JSON.stringify(input_schema), annotations: JSON.stringify(annotations) },
      }))
      try {
        await store.write('recordTools', { ...place, complaint, tools: texts })
        return true
      } catch (error) {
        onTrouble(error)
        return false
      }
    },

    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
