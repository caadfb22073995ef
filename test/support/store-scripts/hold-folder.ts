// Opens a store and keeps it until it is killed or its stdin ends; a refusal is told as JSON.
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'

try {
  const store = await openSqliteStore(process.argv[2] ?? '')
  await store.ping()
  writeSync(1, 'OPEN\n')
  for await (const _ of process.stdin) break
  await store.close()
} catch (error) {
  const { name, message, exitCode } = error as Error & { exitCode?: number }
  writeSync(1, `${JSON.stringify({ name, message, exitCode })}\n`)
  process.exitCode = 1
}
