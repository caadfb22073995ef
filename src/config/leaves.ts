/** The schema walked into a flat list: one leaf for each key, with the names it has as variable and flag. */
import { z } from 'zod'
import { type TextKind, textKind } from '../contract/from-text.ts'
import { configSchema } from './schema.ts'

export interface Leaf {
  readonly key: string
  readonly path: readonly string[]
  readonly schema: z.ZodType
  readonly kind: TextKind
  readonly description: string
  readonly env: string
  /** `--api-port`; undefined when there is no such flag. */
  readonly flag: string | undefined
  readonly secret: boolean
  readonly refuseEmpty: boolean
}

export const LEAVES: readonly Leaf[] = walk(configSchema, [])
export const LEAF_BY_KEY: ReadonlyMap<string, Leaf> = new Map(LEAVES.map((leaf) => [leaf.key, leaf]))
/** `platform`, `platform.oauth`, …: the keys that hold further keys. */
export const GROUPS: ReadonlySet<string> = new Set(LEAVES.flatMap((leaf) => parents(leaf.path)))

function walk(group: z.ZodObject, path: readonly string[]): Leaf[] {
  return Object.entries(group.shape).flatMap(([name, child]) => {
    const here = [...path, name]
    if (child instanceof z.ZodObject) return walk(child, here)
    if (child instanceof z.ZodType) return [toLeaf(child, here)]
    throw new TypeError(`no schema at ${here.join('.')}`)
  })
}

function toLeaf(schema: z.ZodType, path: readonly string[]): Leaf {
  const key = path.join('.')
  const meta = schema.meta() ?? {}
  return {
    key,
    path,
    schema,
    kind: textKind(schema),
    description: meta.description ?? '',
    env: meta.env ?? envName(key),
    flag: meta.flag ? `--${key.replaceAll(/[._]/g, '-')}` : undefined,
    secret: meta.secret ?? false,
    refuseEmpty: meta.refuseEmpty ?? false,
  }
}

export function envName(key: string): string {
  return `SVC_${key.replaceAll('.', '_').toUpperCase()}`
}

function parents(path: readonly string[]): string[] {
  return path.slice(0, -1).map((_, depth) => path.slice(0, depth + 1).join('.'))
}
