// Which processes a misbehaving server was, and whether any of them is still there.
import { existsSync, readFileSync } from 'node:fs'

export const readPids = (file: string): number[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : []
