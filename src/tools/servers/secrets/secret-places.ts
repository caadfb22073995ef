/** Where people write secrets: behind flags and names that say so, in addresses, and in shapes that are well known. */

export interface Span {
  readonly start: number
  readonly end: number
}

const SECRET_NAME =
  /key|token|secret|passw(?:or)?d|passphrase|auth|credential|[_-](?:pass|pwd|pat)$|^(?:pass|sig|signature)$/i

/** Tokens that are counted are words of a model. */
const COUNT_OF_TOKENS = /^(?:max|min|num)[_-].*tokens$|tokens?[_-](?:limit|count|budget)$/i

/** The name of a variable, a flag, a header, a parameter. */
export function looksSecret(name: string): boolean {
  const plain = name.replace(/^-+/, '')
  return SECRET_NAME.test(plain) && !COUNT_OF_TOKENS.test(plain)
}

interface Place {
  /** What stands before a value; with a `name`, only one that looks secret counts. */
  readonly before: RegExp
  readonly value: RegExp
}

const WORD = /"[^"]*"|'[^']*'|["']?[^\s;&#"']+/y

/** Names are bounded and values read only where a name was found, so that a long text takes one pass. */
const PLACES: readonly Place[] = [
  // API_KEY=x, --token=x, ?api_key=x, docker's --env=API_KEY=x, Password=x in a connection string
  { before: /(?<=^|[\s;&?#=,"'])(?<name>-{0,2}[\w.-]{1,128})=/g, value: WORD },
  { before: /^(?<name>-{0,2}[\w.-]{1,128})=/g, value: /.+/sy },
  // --token x inside of a shell's command line
  { before: /(?<=^|\s)(?<name>--?[\w.-]{1,128})\s+(?!-)/g, value: WORD },
  // X-Api-Key: x
  { before: /(?<=^|[\s"'])(?<name>[\w-]{1,128}):\s+/g, value: /[^"'\r\n]+/y },
  // {"apiKey": "x"}
  { before: /"(?<name>[\w.-]{1,128})"\s*:\s*"/g, value: /(?:[^"\\]|\\.)+/sy },
  { before: /\bBearer\s+/gi, value: /[^\s"',;]+/y },
  // user:password@ and the password alone; it may hold an unescaped / or @, but a port is none
  { before: /:\/\//g, value: /[^\s/?#]+(?=@)/y },
  { before: /:\/\/[^\s/?#@:]*:/g, value: /[^\s/?#]+(?=@)/y },
  { before: /:\/\/[^\s/?#@:]*:(?!\d*(?:[/?#]|$))/g, value: /\S{1,1024}(?=@)/y },
]

const SHAPES =
  /(?<![\w-])(?:sk-[\w-]{8,}|gh[opsru]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|xox[a-z]-[\w-]{8,}|AKIA[A-Z0-9]{8,}|AIza[\w-]{20,}|eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?)/g

export function secretSpans(text: string): Span[] {
  const shapes = [...text.matchAll(SHAPES)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }))
  return [...PLACES.flatMap((place) => spansOf(place, text)), ...shapes]
}

function spansOf({ before, value }: Place, text: string): Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of text.matchAll(before)) {
    const start = match.index + match[0].length
    const isCovered = start < end
    if (isCovered || (match.groups && !looksSecret(match.groups.name ?? ''))) continue
    value.lastIndex = start
    const found = value.exec(text)?.[0]
    if (!found) continue
    end = start + found.length
    spans.push(withoutQuotes(found, start))
  }
  return spans
}

function withoutQuotes(found: string, start: number): Span {
  const quotes = found.length > 2 && /^(["']).*\1$/s.test(found) ? 1 : 0
  return { start: start + quotes, end: start + found.length - quotes }
}

const FLAG = /^--?[\w.-]+$/
const HEADER_FLAG = /^(?:-H|--headers?)$/
/** As curl and its kin have it: `-u name:password`. */
const USER_FLAG = /^(?:-u|--user)$/
/** What follows a flag that takes no value. */
const NEXT_FLAG = /^(?:--.*|-[A-Za-z]|-[a-z-]+)$/s

/** The spans of each argument: also those that are secret because of the argument before. */
export function argumentSpans(args: readonly string[]): Span[][] {
  return args.map((text, index) => [...secretSpans(text), ...spansAfter(args[index - 1] ?? '', text)])
}

function spansAfter(previous: string, text: string): Span[] {
  if (text === '') return []
  if (HEADER_FLAG.test(previous)) return headerSpans(text)
  if (USER_FLAG.test(previous) && /^[^:]*:./.test(text)) return [{ start: text.indexOf(':') + 1, end: text.length }]
  const isValue = FLAG.test(previous) && looksSecret(previous) && !NEXT_FLAG.test(text)
  return isValue ? [{ start: 0, end: text.length }] : []
}

/** Behind such a flag the blank after the colon may be missing. */
function headerSpans(text: string): Span[] {
  const colon = text.indexOf(':')
  const start = colon + 1 + (text.slice(colon + 1).match(/^\s*/)?.[0].length ?? 0)
  return colon > 0 && start < text.length && looksSecret(text.slice(0, colon)) ? [{ start, end: text.length }] : []
}
