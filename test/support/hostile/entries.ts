// The hostile server as a server file has it, and as a connection takes it.
import { fileURLToPath } from 'node:url'
import type { StdioTarget } from '../../../src/tools/servers/server-config.ts'
import { program } from '../connection/connections.ts'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))

export const hostileEntry = (list = '', env: Record<string, string> = {}) => ({
  command: process.execPath,
  args: [SERVER, list],
  env,
})

export const hostileTarget = (list = '', env: Record<string, string> = {}): StdioTarget => ({
  ...program(process.execPath, SERVER, list),
  env,
})

/** Brackets, so many deep, as pieces of a text. */
export const nestedPieces = (levels: number): [string, number][] => [
  ['[', levels],
  ['1', 1],
  [']', levels],
]
