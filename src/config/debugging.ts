/** Whether somebody is looking for a fault: known before the configuration is, so that its own faults can be traced. */
import type { Env } from './home.ts'

export function wantsStacks(argv: readonly string[], env: Env = process.env): boolean {
  const flag = argv.findIndex((word) => word === '--log-level' || word.startsWith('--log-level='))
  const asked = flag < 0 ? env.SVC_LOG_LEVEL : (argv[flag]?.split('=')[1] ?? argv[flag + 1])
  return asked === 'debug' || asked === 'trace'
}
