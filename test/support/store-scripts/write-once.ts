// Hands the store some writes in one tick and says on stdout when it asked and when it was answered: for strace.
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { createAgent, createEnvironment } from '../../store/sample.ts'

const [folder = '', count = '1'] = process.argv.slice(2)
const store = await openSqliteStore(folder)
const environment = await createEnvironment(store, 'default')
const names = Array.from({ length: Number(count) }, (_, index) => `agent ${index}`)
writeSync(1, 'ASKED\n')
await Promise.all(names.map((name) => createAgent(store, environment, name)))
writeSync(1, 'ANSWERED\n')
await store.close()
