/** JSON in which nothing means two things: no field twice, no prototype, no text that a database cannot keep. */
import { type JSONVisitor, type ParseErrorCode, parse as parseSlowly, printParseErrorCode, visit } from 'jsonc-parser'
import { AppError } from '../contract/errors.ts'
import { MAX_JSON_DEPTH } from '../contract/json-depth.ts'
import { jsonPointer } from '../contract/json-pointer.ts'
import { endOfString } from '../contract/json-text.ts'

/** Throws INVALID_REQUEST with the place of what is wrong. */
export function parseStrictly(text: string): unknown {
  if (text === '') throw invalid('the body is empty; send a JSON object')
  const parsed = parse(text)
  if (parsed && isPlain(text, parsed.value)) return parsed.value
  const problem = firstProblem(text) ?? (parsed ? undefined : invalid('the body is not valid JSON'))
  if (problem) throw problem
  return parseSlowly(text)
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/**
 * JSON.parse keeps the last of two equal fields, so two readers can see two different requests. Each field of the
 * text has one colon outside of strings: when the value has as many fields as the text has colons, none is lost.
 */
const isPlain = (text: string, value: unknown): boolean => countFields(value, 0) === countColons(text)

/** How many fields there are at any depth; not a number when something in it is refused. */
function countFields(value: unknown, depth: number): number {
  if (typeof value === 'string') return isStorable(value) ? 0 : Number.NaN
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  if (depth === MAX_JSON_DEPTH) return Number.NaN
  if (Array.isArray(value)) return value.reduce((count: number, item) => count + countFields(item, depth + 1), 0)
  let count = 0
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || !isStorable(key)) return Number.NaN
    count += 1 + countFields(value[key as keyof typeof value], depth + 1)
  }
  return count
}

/** Of a text that is JSON; not a number when a name has escapes, which JSON.parse may misread (nodejs/node#63785). */
function countColons(text: string): number {
  let count = 0
  let lastString = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      lastString = text.slice(at, end)
      at = end
    } else if (character === ':') {
      if (lastString.includes('\\')) return Number.NaN
      count++
    }
  }
  return count
}

/** Walks through the text for the place of what is wrong: slow, and only for what is refused. */
function firstProblem(text: string): AppError | undefined {
  const seen: Set<string>[] = []
  let depth = 0
  let problem: AppError | undefined
  /** Only the first one is put into words: a hostile body has as many problems as it has bytes. */
  const report = (describe: () => AppError) => {
    problem ??= describe()
  }
  const enter = () => {
    if (++depth > MAX_JSON_DEPTH) report(() => invalid(`the body is nested deeper than ${MAX_JSON_DEPTH} levels`))
  }
  const visitor: JSONVisitor = {
    onObjectBegin: () => {
      enter()
      seen.push(new Set())
      return !problem
    },
    onObjectEnd: () => {
      depth--
      seen.pop()
    },
    onArrayBegin: () => {
      enter()
      return !problem
    },
    onArrayEnd: () => void depth--,
    onObjectProperty: (key, _offset, _length, _line, _character, path) => {
      const keys = seen.at(-1)
      const at = (message: string) => report(() => invalid(message, jsonPointer([...path(), key])))
      if (keys?.has(key)) at(`the field '${printable(key)}' is there twice`)
      if (key === '__proto__') at("the field '__proto__' is not allowed")
      if (!isStorable(key)) at('a field name has characters that cannot be stored')
      keys?.add(key)
    },
    onLiteralValue: (value, _offset, _length, _line, _character, path) => {
      if (typeof value === 'string' && !isStorable(value)) {
        report(() => invalid('the text has a NUL character or half a surrogate pair', jsonPointer(path())))
      }
      if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
        report(() => invalid('the number is too large', jsonPointer(path())))
      }
    },
    onError: (error, _offset, _length, line, character) => report(() => syntaxError(error, line, character)),
  }
  try {
    visit(text, visitor, { disallowComments: true })
  } catch (error) {
    // The walk is recursive: what overflows it has been found too deep long before.
    if (!(error instanceof RangeError && problem)) throw error
  }
  return problem
}

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

const printable = (text: string) => text.slice(0, 64)

const syntaxError = (code: ParseErrorCode, line: number, character: number) =>
  invalid(`the body is not valid JSON (line ${line + 1}, column ${character + 1}: ${words(printParseErrorCode(code))})`)

const words = (code: string) => code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

const invalid = (message: string, path?: string) =>
  new AppError('INVALID_REQUEST', `The request is not valid: ${message}`, {
    details: path === undefined ? [] : [{ path, message }],
  })
