/** The frame of the command line: global options, help, and the commands. */
import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { addConfig } from './config.ts'
import { addServe } from './serve.ts'

const EXAMPLES = `
Examples:
  agenthost serve                          start on the default ports, this machine only
  agenthost serve --api-port 9000          another port for the REST API
  agenthost config                         every setting, its value and where it came from
  agenthost config --json                  the same for programs
`

export function createProgram(): Command {
  const program = new Command('agenthost')
    .description('Host AI agents and run them so that no accepted run is ever lost.')
    .version(VERSION)
    .option('--home <folder>', 'Folder with config.yaml, environments/ and data/ (SVC_HOME)')
    .option('--json', 'Print JSON for programs')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'agenthost: ')) })
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows how)')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
  addServe(program)
  addConfig(program)
  return program
}
