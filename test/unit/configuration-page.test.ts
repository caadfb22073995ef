// The page that lists every setting is made from the schema; this holds the committed page against it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configurationPage } from '../../scripts/configuration-table.ts'

test('docs/configuration.md is what the schema says (npm run docs writes it)', () => {
  const committed = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')
  expect(committed).toBe(configurationPage())
})
