/** YAML as a checked document, or what is wrong with it. Never quotes the text: it may hold secrets. */
import { readFileSync, statSync } from 'node:fs'
import { type Document, isAlias, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { LARGEST_FILE } from './home.ts'
import type { Problem } from './problem.ts'

interface Place {
  readonly line: number
  readonly column: number
}

interface CheckedYaml {
  /** Undefined when nothing could be made of the text. */
  readonly document: Document | undefined
  readonly place: (node: unknown) => Place
  readonly mistakes: readonly { readonly place?: Place; readonly message: string }[]
}

export interface YamlFile extends Pick<CheckedYaml, 'document' | 'place'> {
  readonly problems: readonly Problem[]
}

const START: Place = { line: 1, column: 1 }

const WORDS = new Map<string, string>([
  ['DUPLICATE_KEY', 'the same key is there twice'],
  ['TAG_RESOLVE_FAILED', 'custom tags are not allowed'],
  ['MULTIPLE_DOCS', 'only one YAML document is allowed'],
  ['TAB_AS_INDENT', 'tabs cannot indent; use spaces'],
  ['BAD_INDENT', 'the indentation does not fit'],
])

export function readYaml(file: string): YamlFile {
  const text = readText(file)
  if (typeof text !== 'string') return { document: undefined, place: () => START, problems: text }
  const { document, place, mistakes } = checkYaml(text)
  return { document, place, problems: mistakes.map(toProblem) }
}

function readText(file: string): string | Problem[] {
  try {
    const found = statSync(file)
    if (!found.isFile()) return [broken('is not a file')]
    if (found.size > LARGEST_FILE) return [broken('is larger than 1 MiB')]
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    return whyUnreadable(error)
  }
}

function whyUnreadable(error: unknown): Problem[] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  if (code === 'ENOENT' || code === 'ENOTDIR') return []
  return [broken(code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8 text' : `cannot be read (${code})`)]
}

export function checkYaml(text: string): CheckedYaml {
  const lines = new LineCounter()
  try {
    const options = { schema: 'core', resolveKnownTags: false, prettyErrors: false, lineCounter: lines } as const
    const document = parseDocument(text, options)
    const place = (node: unknown) => placeAt(lines, startOf(node))
    return { document, place, mistakes: [...faults(document, lines), ...aliases(document, place)] }
  } catch {
    return { document: undefined, place: () => START, mistakes: [{ message: 'is not valid YAML' }] }
  }
}

function faults(document: Document, lines: LineCounter): CheckedYaml['mistakes'] {
  const found = [...document.errors, ...document.warnings]
  return found.map((error) => ({ place: placeAt(lines, error.pos[0]), message: words(error) }))
}

// The library's own message may quote the line.
function words(error: YAMLError): string {
  return WORDS.get(error.code) ?? `not valid YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`
}

function aliases(document: Document, place: CheckedYaml['place']): CheckedYaml['mistakes'] {
  const found: { place: Place; message: string }[] = []
  visit(document, (_, node) => {
    if (isAlias(node)) found.push({ place: place(node), message: 'YAML aliases are not allowed' })
  })
  return found
}

function startOf(node: unknown): number {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : 0
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function toProblem({ place, message }: CheckedYaml['mistakes'][number]): Problem {
  return place ? { key: undefined, place: `config.yaml:${place.line}:${place.column}`, message } : broken(message)
}

function broken(message: string): Problem {
  return { key: undefined, place: 'config.yaml', message }
}
