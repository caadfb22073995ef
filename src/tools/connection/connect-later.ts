/** Loads the MCP client with the first server that is connected: a start, and a service without servers, need none of it. */
import type { ConnectParts } from './connect.ts'
import type { Connect } from './connection.ts'

export function createConnectLater(parts: ConnectParts): Connect {
  let loaded: Promise<Connect> | undefined
  return async (...args) => {
    loaded ??= import('./connect.ts').then(({ createConnect }) => createConnect(parts))
    return (await loaded)(...args)
  }
}
