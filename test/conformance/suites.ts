// The suites and the sets of client scenarios in them that the product is measured with, at exact versions.
import { fileURLToPath } from 'node:url'

export interface Suite {
  name: string
  program: string
  /** Chooses the scenarios. */
  all: string[]
  /** Chooses one of them, as it is run among the others. */
  one: (scenario: string) => string[]
}

const CURRENT = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
const EARLIER = fileURLToPath(import.meta.resolve('mcp-conformance-2025/dist/index.js'))

const requirements = (revision: string): Suite => ({
  name: `0.2.0-alpha.12 ${revision}`,
  program: CURRENT,
  all: ['--requirements', revision],
  one: (scenario) => ['--scenario', scenario, '--spec-version', revision, '--force'],
})

export const SUITES: readonly Suite[] = [
  requirements('2025-11-25'),
  requirements('2026-07-28'),
  { name: '0.1.16 core', program: EARLIER, all: ['--suite', 'core'], one: (scenario) => ['--scenario', scenario] },
]
