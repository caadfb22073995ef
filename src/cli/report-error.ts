/** An error as people read it on stderr, and the exit code that goes with it. */
import { CommanderError } from 'commander'
import { wantsStacks } from '../config/debugging.ts'
import { CONFIG_FILE } from '../config/home.ts'
import { ConfigError, problemLine } from '../config/problem.ts'
import { EXIT } from '../contract/exit-codes.ts'

export function reportError(error: unknown, argv: readonly string[]): number {
  // Commander has said it already; help and version come this way too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usageOrConfig
  if (error instanceof ConfigError) return reportConfig(error)
  say(wantsStacks(argv) && error instanceof Error ? (error.stack ?? error.message) : oneLine(error))
  return exitCodeOf(error)
}

function reportConfig(error: ConfigError): number {
  for (const problem of error.problems) say(inHome(problemLine(problem), error.home))
  return EXIT.usageOrConfig
}

// The whole path, so that there is no doubt which file is meant and a terminal can open it.
function inHome(line: string, home: string): string {
  return line.startsWith(CONFIG_FILE) ? `${home}/${line}` : line
}

function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error)
  return message.replaceAll(/\s*\n\s*/g, ' ')
}

function exitCodeOf(error: unknown): number {
  const code = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined
  return typeof code === 'number' ? code : EXIT.failure
}

export function say(line: string): void {
  process.stderr.write(`agenthost: ${line}\n`)
}
