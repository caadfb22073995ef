// Where the clients of a suite stand in line: one supervisor serves them one after the other, once all are there, so
// that what a scenario measures is the product and not the start of dozens of processes.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSupervisorHouse } from '../support/supervisor-house.ts'
import { conform } from './conform.ts'

export interface Line extends AsyncDisposable {
  /** What the clients have to be told to find it. */
  env: { CONFORMANCE_LINE: string }
  /** How many clients there will be. */
  expect(clients: number): void
}

export async function openLine(): Promise<Line> {
  const house = await openSupervisorHouse()
  const path = join(house.home, 'line')
  const complete = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  let expected = Number.POSITIVE_INFINITY
  let turn: Promise<void> = complete.promise

  async function serve(socket: Socket, job: string): Promise<void> {
    const complaints = await conform(house, JSON.parse(job)).catch((error: Error) => [error.message])
    socket.end(JSON.stringify(complaints))
  }

  function completeWhenAllAreThere(): void {
    if (sockets.size >= expected) complete.resolve()
  }

  const server = createServer((socket) => {
    // A client that the suite has given up is gone.
    socket.on('error', () => {})
    createInterface(socket).once('line', (job) => {
      sockets.add(socket)
      turn = turn.then(() => serve(socket, job))
      completeWhenAllAreThere()
    })
  }).listen(path)
  await once(server, 'listening')
  return {
    env: { CONFORMANCE_LINE: path },
    expect(clients) {
      expected = clients
      completeWhenAllAreThere()
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await house[Symbol.asyncDispose]()
    },
  }
}
