// A service that holds a connection to a server which ends for nobody, and to what that server has started.
//
//   node owner.ts <home>
import { pino } from 'pino'
import { createConnect } from '../../../src/tools/connection/connect.ts'
import { serviceMark } from '../../../src/tools/connection/stdio/orphans.ts'
import { configOf, oddServer } from './connections.ts'

const [home = ''] = process.argv.slice(2)
const connect = createConnect({ log: pino({ level: 'silent' }), service: serviceMark(home) })
const { signal } = new AbortController()
const target = { ...oddServer('stubborn'), env: { MARK: home } }
const connection = await connect(configOf(target), { onToolsChanged() {} }, signal)
const helper = { name: 'helper', input_schema: {} }
await connection.call(helper, { detached: true }, { key: '1:1', signal, timeout_ms: 10_000 })
process.stdout.write('ready\n')
