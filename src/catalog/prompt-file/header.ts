/** Owns how the YAML header of a prompt file is parsed: core schema only, and nothing that can grow or run. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'
import { PromptFileError } from './text.ts'

const MAX_ALIASES = 16
const TOO_DEEP = 'the front matter nests too deeply; flatten it'

// Unique keys are checked in checkTree: the library compares each key with all others.
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const

export interface Header {
  doc: Document.Parsed
  /** The top-level pairs by key. */
  pairs: Map<string, Pair>
  /** The line in the file. */
  lineOf(node: unknown): number
}

export function parseHeader(text: string): Header {
  try {
    return readHeader(text)
  } catch (error) {
    if (error instanceof RangeError) throw new PromptFileError(TOO_DEEP, 1)
    throw error
  }
}

function readHeader(text: string): Header {
  const lineCounter = new LineCounter()
  const doc = parseDocument(text, { ...YAML_OPTIONS, lineCounter })
  // The opening fence is line 1.
  const lineAt = (offset: number): number => lineCounter.linePos(offset).line + 1
  const lineOf = (node: unknown): number => lineAt(offsetOf(node))
  const problem = doc.errors[0] ?? doc.warnings[0]
  if (problem) throw new PromptFileError(describeProblem(problem.message), lineAt(problem.pos[0]))
  const marker = /(?<=^|\n)(?:%|\.\.\.(?:\s|$))/.exec(text)
  if (marker) throw new PromptFileError('YAML directives and ... have no place here; remove this', lineAt(marker.index))
  checkTree(doc, lineOf)
  if (doc.contents !== null && !isMap(doc.contents)) {
    throw new PromptFileError('the front matter must be lines of "key: value"', lineOf(doc.contents))
  }
  return { doc, pairs: pairsByKey(doc.contents), lineOf }
}

function describeProblem(message: string): string {
  return message.includes('call stack') ? TOO_DEEP : `this is not plain YAML: ${message}`
}

export function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

export function pairsByKey(map: YAMLMap | null): Map<string, Pair> {
  return new Map(map?.items.map((pair) => [keyOf(pair), pair]))
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : ''
}

function checkTree(doc: Document.Parsed, lineOf: (node: unknown) => number): void {
  let aliases = 0
  visit(doc, {
    Alias(_key, node) {
      aliases += 1
      if (aliases > MAX_ALIASES) throw new PromptFileError('too many YAML aliases; write the values out', lineOf(node))
      if (!node.resolve(doc)) throw new PromptFileError(`there is no anchor "${node.source}"`, lineOf(node))
    },
    Map(_key, map) {
      const seen = new Set<string>()
      for (const pair of map.items) {
        const key = keyOf(pair)
        if (key === '<<')
          throw new PromptFileError('merge keys (<<) are not used; write the keys out', lineOf(pair.key))
        if (isAlias(pair.key)) throw new PromptFileError('a key cannot be an alias; write it out', lineOf(pair.key))
        if (seen.has(key)) throw new PromptFileError(`the key "${key}" is there twice; keep one`, lineOf(pair.key))
        seen.add(key)
      }
    },
  })
}
