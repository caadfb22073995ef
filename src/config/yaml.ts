/** config.yaml as a checked YAML document, or what is wrong with it. Never quotes the text: it may hold secrets. */
import { readFileSync, statSync } from 'node:fs'
import { type Document, isAlias, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { LARGEST_FILE } from './home.ts'
import type { Problem } from './problem.ts'

export interface YamlFile {
  readonly document: Document | undefined
  readonly place: (node: unknown) => { line: number; column: number }
  readonly problems: readonly Problem[]
}

const WORDS = new Map<string, string>([
  ['DUPLICATE_KEY', 'the same key is there twice'],
  ['TAG_RESOLVE_FAILED', 'custom tags are not allowed'],
  ['MULTIPLE_DOCS', 'only one YAML document is allowed'],
  ['TAB_AS_INDENT', 'tabs cannot indent; use spaces'],
  ['BAD_INDENT', 'the indentation does not fit'],
])

export function readYaml(file: string): YamlFile {
  const text = readText(file)
  return typeof text === 'string' ? parse(text) : nothing(text)
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

function parse(text: string): YamlFile {
  const lines = new LineCounter()
  try {
    const options = { schema: 'core', resolveKnownTags: false, prettyErrors: false, lineCounter: lines } as const
    const document = parseDocument(text, options)
    const place = (node: unknown) => placeAt(lines, startOf(node))
    return { document, place, problems: [...mistakes(document, lines), ...aliases(document, place)] }
  } catch {
    return nothing([broken('is not valid YAML')])
  }
}

function mistakes(document: Document, lines: LineCounter): Problem[] {
  return [...document.errors, ...document.warnings].map((error) => at(placeAt(lines, error.pos[0]), words(error)))
}

// The library's own message may quote the line.
function words(error: YAMLError): string {
  return WORDS.get(error.code) ?? `not valid YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`
}

function aliases(document: Document, place: YamlFile['place']): Problem[] {
  const problems: Problem[] = []
  visit(document, (_, node) => {
    if (isAlias(node)) problems.push(at(place(node), 'YAML aliases are not allowed'))
  })
  return problems
}

function startOf(node: unknown): number {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : 0
}

function placeAt(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function at(place: { line: number; column: number }, message: string): Problem {
  return { key: undefined, place: `config.yaml:${place.line}:${place.column}`, message }
}

function broken(message: string): Problem {
  return { key: undefined, place: 'config.yaml', message }
}

function nothing(problems: readonly Problem[]): YamlFile {
  return { document: undefined, place: () => ({ line: 1, column: 1 }), problems }
}
