/** How deep JSON may be nested anywhere in the service: parsers on the way, ours and others', are recursive. */
import { endOfString } from './json-text.ts'

export const MAX_JSON_DEPTH = 64

/** Counts the brackets of a JSON text: one pass, whatever the value would look like. */
export function isTooDeep(json: string): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') {
      at = endOfString(json, at)
      if (at < 0) return false
    } else if (character === '[' || character === '{') {
      if (++depth > MAX_JSON_DEPTH) return true
    } else if (character === ']' || character === '}') depth--
  }
  return false
}
