/**
 * Owns the first look at a prompt: raw blocks and comments are masked and every tag is bounded, so that
 * mustache's parser only ever sees input it reads in linear time.
 */

/** Characters of a prompt. */
export const TEMPLATE_LIMIT = 1024 * 1024

const TAG_LIMIT = 256
const RAW_OPEN = '{{{{raw}}}}'
const RAW_CLOSE = '{{{{/raw}}}}'
const FILLER = '\uE000'

/** How to write braces that are no tag; the end of several messages. */
export const literalHint = 'put text with literal braces between {{{{raw}}}} and {{{{/raw}}}}'

/** A prompt that is not a template; the message says what is wrong and what to write instead. */
export class TemplateError extends Error {
  readonly line: number
  readonly column: number

  constructor(problem: string, source: string, offset: number) {
    const before = source.slice(0, offset)
    const line = before.split('\n').length
    const column = offset - before.lastIndexOf('\n')
    super(`Line ${line}, column ${column}: ${problem}`)
    this.name = 'TemplateError'
    this.line = line
    this.column = column
  }
}

/** A raw block: `start` to `end` with its marks, `from` to `to` without. */
export interface RawBlock {
  start: number
  from: number
  to: number
  end: number
}

/** The source with raw blocks and comments replaced by filler of the same length, so that offsets stay true. */
export interface MaskedSource {
  text: string
  rawBlocks: RawBlock[]
}

interface Mask {
  end: number
  text: string
  rawBlock?: RawBlock
}

export function maskSource(source: string): MaskedSource {
  if (source.length > TEMPLATE_LIMIT) {
    throw new TemplateError(`the prompt is longer than ${TEMPLATE_LIMIT} characters; shorten it`, source, 0)
  }
  const pieces: string[] = []
  const rawBlocks: RawBlock[] = []
  let position = 0
  for (let open = source.indexOf('{{'); open >= 0; open = source.indexOf('{{', position)) {
    const mask = maskRaw(source, open) ?? maskTag(source, open)
    pieces.push(source.slice(position, open), mask.text)
    if (mask.rawBlock) rawBlocks.push(mask.rawBlock)
    position = mask.end
  }
  return { text: pieces.join('') + source.slice(position), rawBlocks }
}

function maskRaw(source: string, open: number): Mask | undefined {
  let bracesEnd = open
  while (source[bracesEnd] === '{') bracesEnd++
  const start = bracesEnd - 4
  if (start < open || !source.startsWith(RAW_OPEN, start)) return undefined
  if (start - open > 1) throw new TemplateError('a tag starts right before {{{{raw}}}}; remove its {{', source, open)
  const from = start + RAW_OPEN.length
  const to = source.indexOf(RAW_CLOSE, from)
  if (to < 0) throw new TemplateError(`{{{{raw}}}} is not closed; add ${RAW_CLOSE}`, source, start)
  const end = to + RAW_CLOSE.length
  return { end, text: source.slice(open, start) + FILLER.repeat(end - start), rawBlock: { start, from, to, end } }
}

function maskTag(source: string, open: number): Mask {
  const close = source.indexOf('}}', open)
  if (close < 0) throw new TemplateError(`this tag is not closed; add }}, or ${literalHint}`, source, open)
  const inside = source.slice(open + 2, close).trimStart()
  if (inside.startsWith('!')) return { end: close + 2, text: `{{!${'-'.repeat(close - open - 3)}}}` }
  if (close - open > TAG_LIMIT)
    throw new TemplateError(`this tag is too long; close it, or ${literalHint}`, source, open)
  if (inside.startsWith('=')) throw new TemplateError('delimiters cannot be changed; remove this tag', source, open)
  const end = inside.startsWith('{') ? close + 3 : close + 2
  if (end > close + 2 && source[close + 2] !== '}') {
    throw new TemplateError(`{{{ needs }}} to close it; add }, or ${literalHint}`, source, open)
  }
  return { end, text: source.slice(open, end) }
}
