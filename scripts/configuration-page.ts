/** Writes docs/configuration.md from the schema (`npm run docs`), so that the page cannot miss a key. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage } from './configuration-table.ts'

writeFileSync(join(import.meta.dirname, '../docs/configuration.md'), configurationPage())
