/** `agenthost config`: every key with its value and where it came from. */
import type { Command } from 'commander'
import { type ConfigRow, describeConfig } from '../config/describe.ts'
import { loadConfig } from '../config/load.ts'
import { addConfigFlags, readFlags } from './config-flags.ts'
import { say } from './report-error.ts'

export function addConfig(program: Command): void {
  const command = program.command('config').description('Show the resolved configuration, secrets masked')
  addConfigFlags(command).action(() => showConfig(command))
}

function showConfig(command: Command): void {
  const { config, origins, warnings } = loadConfig({ flags: readFlags(command) })
  for (const warning of warnings) say(warning)
  const rows = describeConfig(config, origins)
  const asJson = command.optsWithGlobals().json === true
  process.stdout.write(asJson ? toJson(config.home, rows) : toText(config.home, rows))
}

function toJson(home: string, values: readonly ConfigRow[]): string {
  return `${JSON.stringify({ home, values }, null, 2)}\n`
}

function toText(home: string, rows: readonly ConfigRow[]): string {
  const cells = rows.map((row) => [row.key, cell(row.value), row.source])
  return `HOME  ${home}\n\n${align([['KEY', 'VALUE', 'SOURCE'], ...cells])}`
}

function cell(value: unknown): string {
  if (value === null) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(',')
  return String(value)
}

function align(lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (line: string[]) => line.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')
  return lines.map((line) => `${pad(line).trimEnd()}\n`).join('')
}
