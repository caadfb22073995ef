/**
 * Reads the JSON that we wrote. JSON.parse of current Node versions can take one escaped field name for another that it
 * saw before (nodejs/node#63785); a text with such a name is read by a parser that does not.
 */
import { parse as parseSlowly } from 'jsonc-parser'
import { endOfString } from '../contract/json-text.ts'

export const readJson = (text: string) => (hasEscapedName(text) ? parseSlowly(text) : JSON.parse(text))

/** In a text without blanks between a name and its colon, as JSON.stringify writes it. */
function hasEscapedName(text: string): boolean {
  if (!text.includes('\\')) return false
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start)
    if (text[end + 1] === ':' && text.slice(start, end).includes('\\')) return true
    start = text.indexOf('"', end + 1)
  }
  return false
}
