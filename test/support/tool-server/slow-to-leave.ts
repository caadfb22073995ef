// The tool server of server.ts as many real ones are: it needs a port for itself, and a moment to end in good order.
//
//   PORT=<port> node slow-to-leave.ts <folder>
import { createServer } from 'node:net'

const LEAVE_MS = 400

const leave = process.exit
process.on('SIGTERM', () => {})
process.exit = ((code?: number) => setTimeout(leave, LEAVE_MS, code)) as typeof process.exit

createServer()
  .once('error', () => {
    process.stderr.write('the port is taken\n')
    leave(1)
  })
  .listen(Number(process.env.PORT), '127.0.0.1', () => import('./server.ts'))
