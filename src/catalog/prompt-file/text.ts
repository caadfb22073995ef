/** Owns the outer shape of a prompt file: byte order mark, line ending, the two fences and what stands between. */

/** Bytes of a prompt file. */
export const MAX_PROMPT_FILE_BYTES = 512 * 1024

/** Characters of the header between the fences. */
export const HEADER_LIMIT = 64 * 1024

// The closing fence itself, with some spaces after it.
const FENCE_ROOM = 64

/** A prompt file that cannot be read or changed; the message says what is wrong and what to do. */
export class PromptFileError extends Error {
  readonly line: number

  constructor(problem: string, line: number) {
    super(`Line ${line}: ${problem}`)
    this.name = 'PromptFileError'
    this.line = line
  }
}

/** A file in pieces; joined in this order they are the file again, byte for byte. */
export interface FileParts {
  mark: string
  /** The opening `---` line with its line ending; empty without front matter. */
  open: string
  header: string
  close: string
  body: string
  /** The line ending of the file, taken from its first line. */
  eol: '\n' | '\r\n'
}

export function splitFile(text: string): FileParts {
  if (text.length > MAX_PROMPT_FILE_BYTES || Buffer.byteLength(text) > MAX_PROMPT_FILE_BYTES) {
    throw new PromptFileError(`the file is larger than ${MAX_PROMPT_FILE_BYTES / 1024} KiB; shorten it`, 1)
  }
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const rest = text.slice(mark.length)
  const eol = /^[^\r\n]*\r\n/.test(rest) ? '\r\n' : '\n'
  const open = openingFence(rest)
  if (open === undefined) return { mark, open: '', header: '', close: '', body: rest, eol }
  const { header, close } = readHeader(rest.slice(open.length))
  return { mark, open, header, close, body: rest.slice(open.length + header.length + close.length), eol }
}

export function joinFile(parts: FileParts): string {
  return parts.mark + parts.open + parts.header + parts.close + parts.body
}

/** Whether a prompt at the very start of a file would be read as something else. */
export function needsFence(prompt: string): boolean {
  return /^(?:---(?!-)|\uFEFF)/.test(prompt)
}

/** Whatever the file uses: a prompt and a header as values have `\n`. */
export function withNewlines(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}

/** One empty line after the closing fence is layout, and so is the last line ending; all else is the prompt. */
export function promptOf({ open, body }: FileParts): string {
  const text = withNewlines(body)
  return (open !== '' && text.startsWith('\n') ? text.slice(1) : text).replace(/\n$/, '')
}

function openingFence(text: string): string | undefined {
  if (!text.startsWith('---') || text[3] === '-') return undefined
  const fence = /^---[ \t]*(?:\r?\n|$)/.exec(text)?.[0]
  if (fence === undefined) {
    throw new PromptFileError('front matter starts with a line of just ---, and it is always YAML; write ---', 1)
  }
  return fence
}

function readHeader(text: string): { header: string; close: string } {
  // Not the flag m: it would take U+2028 inside a value for the end of a line.
  const fence = /(?<=^|\n)---[ \t]*\r?\n/.exec(`${text.slice(0, HEADER_LIMIT + FENCE_ROOM)}\n`)
  if (fence && fence.index <= HEADER_LIMIT) {
    const end = Math.min(fence.index + fence[0].length, text.length)
    return { header: text.slice(0, fence.index), close: text.slice(fence.index, end) }
  }
  if (text.length <= HEADER_LIMIT) {
    throw new PromptFileError('the front matter is not closed; end it with a line of just ---', 1)
  }
  const limit = HEADER_LIMIT / 1024
  throw new PromptFileError(`no closing --- in the first ${limit} KiB; close the front matter or shorten it`, 1)
}
