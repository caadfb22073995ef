// How the tests run: real processes, two at a time, each file watched for leaks.
import { defineConfig } from 'vitest/config'
import { CountsReporter } from './test/support/counts-reporter.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/leaks.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A forgotten `test.only` would hide every other test.
    allowOnly: false,
    reporters: ['default', new CountsReporter()],
  },
})
