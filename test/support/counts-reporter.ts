// The last line of a test run: `N passed, N failed, N skipped`, alone on its line.
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

// A file that cannot load and a failing hook belong to no test; they count as failures all the same.
function failuresOutsideTests(module: TestModule): number {
  const suites = [...module.children.allSuites()]
  return [module, ...suites].filter((suite) => suite.errors().length > 0).length
}

function countModule(module: TestModule, counts: Counts): void {
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    counts[state === 'pending' ? 'skipped' : state]++
  }
  counts.failed += failuresOutsideTests(module)
}

export class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts: Counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) countModule(module, counts)
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`
    // Other reporters still print after this hook; at exit nobody does.
    process.once('exit', () => process.stdout.write(line))
  }
}
