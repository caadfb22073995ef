// The service as a process for the crash tests: the real startService, with ledger tools, a database that keeps an
// audit, and a store that dies or fails where it is told to. Started in place of bin/agenthost.mjs.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import type { ServerPromises } from '../../../src/tools/repeat-policy.ts'
import type { Toolset } from '../../../src/tools/toolset.ts'
import { beginLife } from './audit.ts'
import { readCrashPoint, withCrashPoint } from './crash-point.ts'
import { withTrouble } from './trouble.ts'

enableCompileCache()
const { env } = process
const life = Number(env.SVC_TEST_LIFE ?? 1)
const home = process.argv[process.argv.indexOf('--home') + 1] ?? ''
const promises: Record<string, ServerPromises> = JSON.parse(env.SVC_TEST_PROMISES ?? '{"":{}}')

// Side by side: the tool server needs as long to start as the service takes to load.
const connecting = import('../ledger/tools.ts').then(({ startLedgerTools }) =>
  startLedgerTools({ file: env.SVC_TEST_LEDGER ?? join(home, 'ledger.jsonl'), life, promises }),
)
const [{ startService }, { loadConfig }, { createLog }, { openSqliteStore }, { toolsFrom }] = await Promise.all([
  import('../../../src/app.ts'),
  import('../../../src/config/load.ts'),
  import('../../../src/telemetry/log.ts'),
  import('../../../src/store/sqlite/open.ts'),
  import('../tools-from.ts'),
])
const tools: Toolset = {
  offerTo: async (wishes) => toolsFrom((await connecting).tools).offerTo(wishes),
  // A run that goes on from an earlier life asks for nothing, and may be quicker than the tool server.
  bind: async (offered) =>
    offered.map((tool) => ({
      ...tool,
      async call(input, context) {
        const [bound] = await toolsFrom((await connecting).tools).bind([tool], { environment: '', environment_id: 0 })
        return bound ? bound.call(input, context) : { output: `no tool ${tool.name}`, is_error: true }
      },
    })),
}

async function openStore(folder: string) {
  const store = await openSqliteStore(folder)
  beginLife(join(folder, 'agenthost.sqlite'), life)
  const point = env.SVC_TEST_CRASH
  if (point) return withCrashPoint(store, readCrashPoint(point, env.SVC_TEST_CRASH_BATCH))
  return env.SVC_TEST_TROUBLE ? withTrouble(store, (runId) => process.stderr.write(`trouble ${runId}\n`)) : store
}

const { config } = loadConfig({ flags: { home }, env, cwd: home })
const stopAsked = new Promise((resolve) => process.once('SIGTERM', resolve))
const log = createLog(config.log_level)
const [service, ledger] = await Promise.all([startService({ config, log, tools, openStore }), connecting])
const { api, mcp, agents } = service.addresses
process.stdout.write(`ready api=${api} mcp=${mcp} agents=${agents}\n`)
await stopAsked
await service.stop()
await ledger.close()
process.exit(0)
