// The sockets that fetch opens while the test looks: it can end them with what a system says of a line that is dead.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

const CONNECTED = 'undici:client:connected'

export interface SocketsOfFetch extends Disposable {
  /** As when the other side of an open connection has vanished. */
  fail(code: string): void
}

export function watchSocketsOfFetch(): SocketsOfFetch {
  const sockets = new Set<Socket>()
  const watch = (message: unknown) => void sockets.add((message as { socket: Socket }).socket)
  subscribe(CONNECTED, watch)
  return {
    fail(code) {
      for (const socket of sockets)
        socket.destroy(Object.assign(new Error(`read ${code}`), { code, errno: -1, syscall: 'read' }))
    },
    [Symbol.dispose]: () => void unsubscribe(CONNECTED, watch),
  }
}
