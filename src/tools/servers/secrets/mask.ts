/** Texts without a server's secrets, in whatever form a program prints them, in one pass over the text. */
import { MASK } from '../../../config/mask.ts'
import type { Json } from '../../../contract/tool.ts'
import { secretForms } from './secret-forms.ts'

export type Mask = (text: string) => string

/** Long enough to be rare in a text; a regular expression of whole secrets may be too large to compile. */
const BEGINNING = 16

export function createMask(secrets: Iterable<string>): Mask {
  const forms = [...new Set([...secrets].flatMap(secretForms))].sort((one, other) => other.length - one.length)
  if (forms.length === 0) return (text) => text
  const beginnings = new Set(forms.map((form) => form.slice(0, BEGINNING)))
  const beginning = new RegExp([...beginnings].map((start) => RegExp.escape(start)).join('|'), 'g')
  return (text) => maskForms(text, forms, beginning)
}

/** Secrets may overlap: each place is looked at, and what touches becomes one mask. */
function maskForms(text: string, forms: readonly string[], beginning: RegExp): string {
  let masked = ''
  let copied = 0
  beginning.lastIndex = 0
  for (let match = beginning.exec(text); match; match = beginning.exec(text)) {
    const start = match.index
    beginning.lastIndex = start + 1
    const end = start + (forms.find((form) => text.startsWith(form, start))?.length ?? 0)
    if (end <= copied || end === start) continue
    masked += start < copied ? '' : text.slice(copied, start) + MASK
    copied = end
  }
  return masked + text.slice(copied)
}

/** Deeper than anything that is kept; a walk without an end would overflow the stack. */
const DEEPEST = 500

/** Strings and keys inside of a value; what has no secret in it stays the same object. */
export function maskJson(value: Json, mask: Mask, depth = 0): Json {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') return mask(String(value)) === String(value) ? value : MASK
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return MASK
  if (Array.isArray(value)) {
    const items = value.map((item) => maskJson(item, mask, depth + 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const before = Object.entries(value)
  const after = before.map(([key, item]): [string, Json] => [mask(key), maskJson(item, mask, depth + 1)])
  const isSame = after.every(([key, item], index) => key === before[index]?.[0] && item === before[index][1])
  return isSame ? value : Object.fromEntries(after)
}
