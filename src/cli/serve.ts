/** `agenthost serve`: configuration in, one ready line out, then the service until a signal asks it to stop. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Service } from '../app.ts'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { refuseWhatIsNotHereYet } from '../config/rules.ts'
import { EXIT } from '../contract/exit-codes.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { addConfigFlags, readFlags } from './config-flags.ts'
import { say } from './report-error.ts'
import { firstStopSignal } from './stop-signals.ts'

const STOP_MARGIN_SECONDS = 5

export function addServe(program: Command): void {
  const command = program.command('serve').description('Start the service: REST, MCP and webhook')
  addConfigFlags(command).action(async () => serve(loadConfig({ flags: readFlags(command) })))
}

async function serve({ config, warnings }: LoadedConfig): Promise<void> {
  refuseWhatIsNotHereYet(config)
  const log = createLog(config.log_level)
  for (const warning of warnings) log.warn(warning)
  const asked = firstStopSignal({ source: process, exit: process.exit })
  // Loaded only now: a wrong configuration is said at once, and other commands stay quick.
  const { startService } = await import('../app.ts')
  const service = await startService({ config, log })
  process.stdout.write(readyLine(service))
  await asked
  process.exit(await stopWithin(service, config.drain_seconds + STOP_MARGIN_SECONDS, log))
}

function readyLine({ addresses }: Service): string {
  return `ready api=${addresses.api} mcp=${addresses.mcp} agents=${addresses.agents}\n`
}

async function stopWithin(service: Service, seconds: number, log: Log): Promise<number> {
  try {
    const inTime = await Promise.race([service.stop().then(() => true), sleep(seconds * 1000, false)])
    if (!inTime) say(`did not stop within ${seconds} s`)
    return inTime ? EXIT.done : EXIT.failure
  } catch (error) {
    log.error({ err: error }, 'stopping failed')
    return EXIT.failure
  }
}
