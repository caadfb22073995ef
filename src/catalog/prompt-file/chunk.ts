/** Owns the YAML of one changed key: its value is replaced, the comments and settings we do not know stay. */
import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { VariableSettings } from '../template/variables.ts'
import { type Header, pairsByKey, parseHeader } from './header.ts'
import type { PromptSettings, SettingName } from './read.ts'
import { PromptFileError } from './text.ts'

type Value = PromptSettings[SettingName]

export interface KeyChange {
  key: SettingName
  present: Value
  wanted: Value
}

// What only survives with escapes, and ends that a block scalar would share with empty lines after it.
const NEEDS_ESCAPES = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\n[ \t]*\n$|^\n|^[ \t]+\n/u

/** The lines for a key that the header does not have yet. */
export function newChunk({ key, wanted }: KeyChange): string {
  return wanted === undefined ? '' : print(new Document({ [key]: createNode(wanted) }), '')
}

/** The lines of a header that hold the key, with the change made; `line` is where they start in the file. */
export function editChunk(text: string, change: KeyChange, line: number): string {
  const header = parseHeader(text)
  const before = commentsOf(header, line)
  changeKey(header.doc, header, change)
  const { contents } = header.doc
  const isGone = isMap(contents) && contents.items.length === 0 && !contents.flow
  const edited = isGone ? '' : print(header.doc, text)
  return lostComments(before, commentsOf(parseHeader(edited), line)) + edited
}

function changeKey(doc: Document, header: Header, { key, present, wanted }: KeyChange): void {
  const old = header.pairs.get(key)?.value
  if (wanted === undefined) doc.delete(key)
  else if (Array.isArray(wanted) && isSeq(old)) changeList(old, wanted)
  else if (isVariables(wanted) && isVariables(present) && isMap(old)) changeVariables(old, present, wanted)
  else doc.set(key, replaceNode(old, wanted))
}

function isVariables(value: Value): value is Record<string, VariableSettings> {
  return typeof value === 'object' && !Array.isArray(value)
}

function changeList(list: YAMLSeq, wanted: readonly string[]): void {
  const old = [...list.items]
  list.items = wanted.map((name) => {
    const index = old.findIndex((item) => isScalar(item) && item.value === name)
    return index < 0 ? createNode(name) : old.splice(index, 1)[0]
  })
}

function changeVariables(
  map: YAMLMap,
  present: Record<string, VariableSettings>,
  wanted: Record<string, VariableSettings>,
): void {
  for (const name of Object.keys(present)) if (!Object.hasOwn(wanted, name)) map.delete(name)
  for (const [name, settings] of Object.entries(wanted)) {
    const old = pairsByKey(map).get(name)?.value
    const before = Object.hasOwn(present, name) ? present[name] : undefined
    if (isMap(old)) changeVariable(old, before, settings)
    else if (!before || !sameVariable(before, settings)) map.set(name, replaceNode(old, shortest(settings)))
  }
}

function changeVariable(map: YAMLMap, present: VariableSettings | undefined, wanted: VariableSettings): void {
  for (const key of ['description', 'default'] as const) {
    const value = wanted[key]
    if (value === undefined) map.delete(key)
    else if (value !== present?.[key]) map.set(key, replaceNode(pairsByKey(map).get(key)?.value, value))
  }
}

function sameVariable(one: VariableSettings, other: VariableSettings): boolean {
  return one.default === other.default && one.description === other.description
}

/** A default alone is written as a bare value, no settings at all as none. */
function shortest(settings: VariableSettings): VariableSettings | string | null {
  if (settings.description !== undefined) return settings
  return settings.default ?? null
}

/** A node for the value that takes over the comments, and for text the quotes, of the one it replaces. */
function replaceNode(old: unknown, value: unknown): Node {
  const node = createNode(value)
  if (!isNode(old) || isAlias(old)) return node
  if (old.comment) node.comment = old.comment
  if (old.commentBefore) node.commentBefore = old.commentBefore
  const keepsQuotes = isScalar(old) && (old.type === 'QUOTE_SINGLE' || old.type === 'QUOTE_DOUBLE')
  if (keepsQuotes && isScalar(node) && typeof value === 'string' && !node.type) node.type = old.type ?? 'PLAIN'
  return node
}

function createNode(value: unknown): Node {
  const node: Node = new Document(null).createNode(value, { aliasDuplicateObjects: false })
  visit(node, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && NEEDS_ESCAPES.test(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE
    },
  })
  return node
}

/** In the layout of the text it replaces, and never folding a line. */
function print(doc: Document, like: string): string {
  return doc.toString({
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
    flowCollectionPadding: /[[{] /.test(like),
    indentSeq: !/:[ \t]*\n-/.test(like),
  })
}

function commentsOf({ doc }: Header, line: number): string[] {
  const found: string[] = [doc.commentBefore ?? '', doc.comment ?? '']
  visit(doc, {
    Node(_key, node) {
      if (isAlias(node) || node.anchor) {
        throw new PromptFileError('this key uses a YAML anchor or alias; change it in the file by hand', line)
      }
      found.push(node.commentBefore ?? '', node.comment ?? '')
    },
  })
  return found.flatMap((text) => text.split('\n')).filter((text) => text.trim() !== '')
}

/** Comments whose place is gone stay above the key. */
function lostComments(before: readonly string[], after: readonly string[]): string {
  const left = [...after]
  const lost = before.filter((comment) => {
    const index = left.indexOf(comment)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
  return lost.map((comment) => `#${comment}\n`).join('')
}
