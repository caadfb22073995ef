/**
 * Reads the JSON that we wrote. JSON.parse of current Node versions can take one escaped field name for another that it
 * saw before (nodejs/node#63785); a text with such a name is read by a parser that does not.
 */
import { type Node, parseTree } from 'jsonc-parser'
import { endOfString } from '../contract/json-text.ts'

export const readJson = (text: string) => (hasEscapedName(text) ? valueIn(parseTree(text)) : JSON.parse(text))

/** The parser's own way to a value assigns its fields, and so loses one that is called `__proto__`. */
function valueIn(node?: Node): unknown {
  const { type, value, children = [] } = node ?? {}
  if (type === 'array') return children.map(valueIn)
  if (type !== 'object') return value
  return Object.fromEntries(children.map(({ children: [name, field] = [] }) => [name?.value, valueIn(field)]))
}

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
