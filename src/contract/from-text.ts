/**
 * Variables, flags, paths and queries are text; a schema says what the text means.
 * What does not fit stays text, for the schema to refuse in its own words.
 */
import { z } from 'zod'

export type TextKind = 'text' | 'number' | 'boolean' | 'list'

const KINDS = new Map<string, TextKind>([
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['array', 'list'],
])

export const textKind = (schema: z.ZodType): TextKind => KINDS.get(innermost(schema).def.type) ?? 'text'

export function fromText(kind: TextKind, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'list') return toList(text)
  return kind === 'number' ? toNumber(text) : toBoolean(text)
}

/** Below defaults, optionals and transformations stands the type that is written. */
function innermost(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return innermost(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodPipe) return innermost(schema.def.in as z.ZodType)
  return schema
}

const toList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** One way to write a number: no sign for plus, no leading zeros, no exponent. */
const toNumber = (text: string): unknown => (/^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text)

const toBoolean = (text: string): unknown => (text === 'true' || text === 'false' ? text === 'true' : text)
