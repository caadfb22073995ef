/** The text of a server file as its entries: JSON as people copy it from editors, with comments and last commas. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { MAX_JSON_DEPTH } from '../../contract/json-depth.ts'
import { maskPlaces } from './secrets/shown.ts'

export interface ServerFile {
  readonly entries: readonly { readonly name: string; readonly value: unknown }[]
  readonly errors: readonly { readonly server?: string; readonly message: string }[]
}

/** What is wrong with the text, in words that quote nothing of its values. */
class Mistake extends Error {}

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const FORM = '{"mcpServers": {"<name>": {…}}}'
const TOO_DEEP = `is nested deeper than ${MAX_JSON_DEPTH} levels`

export function parseServerFile(text: string): ServerFile {
  try {
    return entriesOf(serversIn(parse(text)), text)
  } catch (error) {
    if (error instanceof Mistake) return { entries: [], errors: [{ message: error.message }] }
    throw error
  }
}

function parse(text: string): Node {
  const errors: ParseError[] = []
  const root = parsed(text, errors)
  const [first] = errors
  if (first) throw new Mistake(`is not valid JSON (${place(text, first.offset)}: ${words(first)})`)
  if (root?.type !== 'object') throw new Mistake(`must be an object: ${FORM}`)
  return root
}

function parsed(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true })
  } catch (error) {
    // The parser is recursive.
    throw error instanceof RangeError ? new Mistake(TOO_DEEP) : error
  }
}

function serversIn(root: Node): Node {
  const [servers, second] = fields(root).filter(({ name }) => name === 'mcpServers')
  if (!servers) throw new Mistake(`has no "mcpServers"; a server file has the form ${FORM}`)
  if (second) throw new Mistake('has "mcpServers" twice')
  if (servers.value.type !== 'object') throw new Mistake(`"mcpServers" must be an object: ${FORM}`)
  return servers.value
}

/** One wrong entry leaves the others alone. */
function entriesOf(servers: Node, text: string): ServerFile {
  const entries: { name: string; value: unknown }[] = []
  const errors: { server?: string; message: string }[] = []
  for (const [name, [node, ...others]] of Map.groupBy(fields(servers), (field) => field.name)) {
    if (!SERVER_NAME.test(name)) errors.push({ message: badName(name) })
    else if (others.length > 0) errors.push({ server: name, message: 'the server is there twice in this file' })
    else if (node) read(name, node.value)
  }
  function read(name: string, node: Node): void {
    try {
      entries.push({ name, value: plain(node, text) })
    } catch (error) {
      if (!(error instanceof Mistake)) throw error
      errors.push({ server: name, message: error.message })
    }
  }
  return { entries, errors }
}

/** Somebody may have put an address with a key in it where a name belongs. */
const badName = (name: string) =>
  `the server name ${JSON.stringify(maskPlaces(name).slice(0, 64))} must be 1 to 64 letters, digits, _, - or ., ` +
  'and begin with a letter or digit'

/** As JSON.parse would have it, but a field that is there twice is a mistake, and `__proto__` a name like any other. */
function plain(node: Node, text: string, depth = 0): unknown {
  if (depth > MAX_JSON_DEPTH) throw new Mistake(TOO_DEEP)
  if (node.type === 'array') return node.children?.map((item) => plain(item, text, depth + 1)) ?? []
  if (node.type !== 'object') return node.value
  const seen = new Set<string>()
  const entries = fields(node).map(({ name, value, offset }) => {
    if (seen.has(name)) throw new Mistake(`the same key is there twice (${place(text, offset)})`)
    seen.add(name)
    return [name, plain(value, text, depth + 1)] as const
  })
  return Object.fromEntries(entries)
}

function fields(node: Node): { name: string; value: Node; offset: number }[] {
  return (node.children ?? []).flatMap(({ offset, children: [name, value] = [] }) =>
    name && value ? [{ name: String(name.value), value, offset }] : [],
  )
}

function place(text: string, offset: number): string {
  const before = text.slice(0, offset)
  return `line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
}

const words = ({ error }: ParseError) =>
  printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
