/** argv → command → exit code. */
import { createProgram } from './cli/program.ts'
import { reportError } from './cli/report-error.ts'
import { EXIT } from './contract/exit-codes.ts'

// Not process.exitCode: a start that failed half-way may leave handles that keep the process alive.
const fail = (error: unknown) => process.exit(reportError(error, process.argv))

// Nobody expected this one, so the whole of it goes to the operator.
process.on('uncaughtException', (error) => {
  process.stderr.write(`agenthost: ${error.stack ?? error}\n`)
  process.exit(EXIT.failure)
})
// `agenthost config | head` closes the pipe early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

try {
  await createProgram().parseAsync(process.argv)
} catch (error) {
  fail(error)
}
