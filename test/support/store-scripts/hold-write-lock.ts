// Somebody else on the database file, such as a shell: holds the write lock until it is told something.
import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const db = new DatabaseSync(process.argv[2] ?? '')
db.exec('BEGIN IMMEDIATE')
writeSync(1, 'HELD\n')
for await (const _ of process.stdin) break
db.exec('ROLLBACK')
db.close()
writeSync(1, 'RELEASED\n')
