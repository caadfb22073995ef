/** Nothing secret leaves through a message or a table: secret keys whole, URLs without credentials and parameters. */
import { inspect } from 'node:util'
import type { Leaf } from './leaves.ts'

export const MASK = '••••'
const LONGEST_ECHO = 80

export function maskValue(leaf: Pick<Leaf, 'secret'>, value: unknown): unknown {
  if (value === undefined) return null
  if (leaf.secret) return MASK
  if (Array.isArray(value)) return value.map((item) => maskValue(leaf, item))
  return typeof value === 'string' ? maskUrl(value) : value
}

/** Greedy on purpose: a password may hold an unescaped `/` or `@`, and a broken URL cannot be parsed. */
export function maskUrl(text: string): string {
  return text.replace(/(:\/\/).*@/s, `$1${MASK}@`).replaceAll(/([?&][^=&#]*=)[^&#]*/g, `$1${MASK}`)
}

/** ` (got "abc")` for a message, nothing for a secret. */
export function echo(leaf: Pick<Leaf, 'secret'>, value: unknown): string {
  if (leaf.secret) return ''
  const masked = maskValue(leaf, value)
  const shown =
    typeof masked === 'string' ? JSON.stringify(masked) : inspect(masked, { depth: 2, breakLength: Infinity })
  return ` (got ${shown.length > LONGEST_ECHO ? `${shown.slice(0, LONGEST_ECHO)}…` : shown})`
}
