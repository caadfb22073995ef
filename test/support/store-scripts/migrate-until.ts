// Migrates a database and kills itself right before the n-th statement; says DONE when there was none.
import { writeFileSync, writeSync } from 'node:fs'
import { openWriter } from '../../../src/store/sqlite/connection.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { HISTORY } from './migrations.ts'

const [file = '', age = '1', fatal = '1'] = process.argv.slice(2)
writeFileSync(file, '', { flag: 'a' })
const db = openWriter(file)
let statements = 0
migrate(db, {
  migrations: HISTORY[Number(age)] ?? [],
  onStatement() {
    statements++
    if (statements === Number(fatal)) process.kill(process.pid, 'SIGKILL')
  },
})
db.close()
writeSync(1, 'DONE\n')
