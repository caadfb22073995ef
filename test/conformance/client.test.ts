// The client scenarios of the MCP conformance suites, run against the supervisor. What they find is held against
// committed lists, check by check: a scenario that is gone, or that looks at nothing, must not pass for a success.
// With `-u` the lists are written anew; what changes in them is to be read.
import { expect, test } from 'vitest'
import { whyItFails } from './expected-failures.ts'
import { type Check, type Findings, runAlone, runSuite } from './run-suite.ts'
import { SUITES, type Suite } from './suites.ts'

const SUITE_MS = 120_000
/** Measures half a second, which a busy machine can make longer. */
const TIMED = 'sse-retry'
const MOST_TRIES = 3

for (const suite of SUITES) {
  test(`conformance ${suite.name}: all pass but what is not offered`, { timeout: SUITE_MS }, async ({ signal }) => {
    const found = await runSuite(suite, signal)
    await measureAgain(suite, found, signal)
    expect(complaints(found)).toEqual([])
    await expect(toText(found)).toMatchFileSnapshot(`checks/${suite.name.replaceAll(' ', '-')}.txt`)
  })
}

const ENDS = 'a process with nothing but a supervisor ends by itself once that has stopped'
test(ENDS, { timeout: SUITE_MS }, async ({ signal }) => {
  const [suite] = SUITES
  const checks = suite && (await runAlone(suite, 'tools_call', signal))
  expect(checks?.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS'])
})

const isGood = (checks: Check[]) => checks.every(({ status }) => status === 'SUCCESS' || status === 'SKIPPED')
const isIdle = (checks: Check[]) => checks.every(({ status }) => status === 'SKIPPED')

async function measureAgain(suite: Suite, found: Findings, signal: AbortSignal): Promise<void> {
  for (let tries = 1; tries < MOST_TRIES && !isGood(found.get(TIMED) ?? []); tries++) {
    found.set(TIMED, await runAlone(suite, TIMED, signal))
  }
}

function complaints(found: Findings): string[] {
  return [...found].flatMap(([scenario, checks]) => {
    const reason = whyItFails(scenario)
    if (isIdle(checks)) return [`${scenario} has looked at nothing`]
    if (reason === undefined) return checks.filter((check) => !isGood([check])).map((check) => failure(scenario, check))
    return isGood(checks) ? [`${scenario} passes, although: ${reason}`] : []
  })
}

const failure = (scenario: string, { id, errorMessage = '' }: Check) => `${scenario}: ${id} fails: ${errorMessage}`

/** One line for each check, the same for the same findings. */
function toText(found: Findings): string {
  const blocks = [...found].map(([scenario, checks]) => {
    const title = whyItFails(scenario) === undefined ? scenario : `${scenario} (expected to fail)`
    return [title, ...checks.map(({ status, id }) => `  ${status} ${id}`).sort()].join('\n')
  })
  return `${blocks.join('\n')}\n`
}
