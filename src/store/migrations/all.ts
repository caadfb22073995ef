/** The schema's history, in order. A database at version n has the first n applied; entries never change once released. */
import { initial } from './0001-initial.ts'
import { runs } from './0002-runs.ts'
import { tools } from './0003-tools.ts'
import type { Dialect } from './dialect.ts'

export type Migration = (dialect: Dialect) => string[]

export const MIGRATIONS: readonly Migration[] = [initial, runs, tools]
