/** Owns the grammar of prompts: mustache's tokens, checked against the few forms we allow, as a small tree. */
import Mustache, { type TemplateSpans } from 'mustache'
import { literalHint, maskSource, type RawBlock, TemplateError } from './source.ts'

export type Role = 'system' | 'user'

export type TemplateNode =
  | { kind: 'text'; text: string; raw: boolean }
  | { kind: 'value'; name: string; offset: number }
  | { kind: 'section'; name: string; inverted: boolean; children: TemplateNode[] }
  | { kind: 'role'; role: Role }

type Token = TemplateSpans[number]

const MAX_DEPTH = 32
const NAME = /^[A-Za-z_]\w{0,63}$/
const ROLE = /^role\s+(["'])([^"']*)\1$/

/** Whether a prompt can use this name as a variable. */
export function isVariableName(name: string): boolean {
  return NAME.test(name)
}

export function parseNodes(source: string): TemplateNode[] {
  const { text, rawBlocks } = maskSource(source)
  return new NodeReader(source, rawBlocks).read(parseTokens(source, text), 0)
}

function parseTokens(source: string, masked: string): TemplateSpans {
  try {
    // A writer of its own, because the shared one keeps every template it has ever seen.
    return new Mustache.Writer().parse(masked, ['{{', '}}'])
  } catch (error) {
    throw sectionError(source, error instanceof Error ? error.message : String(error))
  }
}

function sectionError(source: string, message: string): TemplateError {
  const [, problem, name = '', offset = '0'] = /^(\w+) section "([\s\S]*)" at (\d+)$/.exec(message) ?? []
  // The parser notices at the end of a section; a name that is wrong stands at its beginning.
  const opening = isVariableName(name) ? -1 : source.search(new RegExp(`\\{\\{\\s*[#^]\\s*${RegExp.escape(name)}`))
  return new TemplateError(describeSectionProblem(problem, name), source, opening < 0 ? Number(offset) : opening)
}

function describeSectionProblem(problem: string | undefined, name: string): string {
  if (!isVariableName(name)) return wrongName(name)
  if (problem === 'Unopened') return `{{/${name}}} closes nothing; remove it or add {{#${name}}} before it`
  return `section "${name}" is not closed here; add {{/${name}}}`
}

function wrongName(name: string): string {
  const rule = 'use letters, digits and _ only (at most 64, no digit first; no paths, helpers or code)'
  return `"${shorten(name)}" is not a variable name; ${rule}, or ${literalHint}`
}

class NodeReader {
  readonly #source: string
  readonly #rawBlocks: RawBlock[]

  constructor(source: string, rawBlocks: RawBlock[]) {
    this.#source = source
    this.#rawBlocks = [...rawBlocks].reverse()
  }

  read(tokens: TemplateSpans, depth: number): TemplateNode[] {
    const nodes: TemplateNode[] = []
    for (const token of tokens) {
      if (token[0] === 'text') this.#readText(token[2], token[3], nodes)
      else if (token[0] !== '!') nodes.push(this.#readTag(token, depth))
    }
    return nodes
  }

  // Tokens come in source order, so the raw blocks inside a text are the next ones on the stack.
  #readText(start: number, end: number, nodes: TemplateNode[]): void {
    let position = start
    for (let block = this.#rawBlocks.at(-1); block && block.start < end; block = this.#rawBlocks.at(-1)) {
      appendText(nodes, this.#source.slice(position, block.start), false)
      appendText(nodes, this.#source.slice(block.from, block.to), true)
      position = block.end
      this.#rawBlocks.pop()
    }
    appendText(nodes, this.#source.slice(position, end), false)
  }

  #readTag(token: Token, depth: number): TemplateNode {
    const [type, value, offset] = token
    if (type === '>') throw this.#error('a prompt cannot include another one; remove this tag', offset)
    if (type === '#' || type === '^') return this.#readSection(token, depth)
    const role = type === 'name' ? ROLE.exec(value)?.[2] : undefined
    if (role !== undefined) return this.#readRole(role, offset, depth)
    return { kind: 'value', name: this.#checkName(value, offset), offset }
  }

  #readSection(token: Token, depth: number): TemplateNode {
    const [type, value, offset, , children] = token
    const name = this.#checkName(value, offset)
    if (depth >= MAX_DEPTH) throw this.#error(`sections nest deeper than ${MAX_DEPTH}; flatten them`, offset)
    const inner = Array.isArray(children) ? this.read(children, depth + 1) : []
    return { kind: 'section', name, inverted: type === '^', children: inner }
  }

  #readRole(role: string, offset: number, depth: number): TemplateNode {
    if (depth > 0) throw this.#error('a role cannot change inside a section; move this tag out of it', offset)
    if (role === 'system' || role === 'user') return { kind: 'role', role }
    throw this.#error(`"${shorten(role)}" is not a role; write "system" or "user"`, offset)
  }

  #checkName(name: string, offset: number): string {
    if (isVariableName(name)) return name
    throw this.#error(wrongName(name), offset)
  }

  #error(problem: string, offset: number): TemplateError {
    return new TemplateError(problem, this.#source, offset)
  }
}

function appendText(nodes: TemplateNode[], text: string, raw: boolean): void {
  const last = nodes.at(-1)
  if (last?.kind === 'text' && last.raw === raw) last.text += text
  else if (text !== '') nodes.push({ kind: 'text', text, raw })
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
