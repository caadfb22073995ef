/** What is wrong with a configuration, where it was written, and the one error that carries all of it. */
import type { Leaf } from './leaves.ts'

export type Origin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly line: number; readonly column: number }
  | { readonly kind: 'default' }

/** A value as somebody wrote it, before it is checked. */
export interface Given {
  readonly leaf: Leaf
  readonly value: unknown
  readonly origin: Origin
}

export interface Problem {
  readonly key: string | undefined
  /** `config.yaml:12:3`, `SVC_API_PORT` or `--api-port`. */
  readonly place: string
  readonly message: string
}

export class ConfigError extends Error {
  readonly problems: readonly Problem[]
  readonly home: string

  constructor(problems: readonly Problem[], home: string) {
    super(problems.map(problemLine).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
    this.home = home
  }
}

export function problemLine(problem: Problem): string {
  return `${problem.place}: ${problem.message}`
}

/** Where to go to change it. */
export function placeOf(origin: Origin, key: string): string {
  if (origin.kind === 'default') return key
  return origin.kind === 'file' ? `config.yaml:${origin.line}:${origin.column}` : origin.name
}

/** Where a value came from, as the table of `agenthost config` says it. */
export function sourceOf(origin: Origin): string {
  if (origin.kind === 'env') return `env ${origin.name}`
  return origin.kind === 'file' ? `config.yaml:${origin.line}` : origin.kind
}
