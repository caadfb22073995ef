/** Reads a JSON body: right media type, bounded size, strict syntax, nothing in it that means two things. */
import { type JSONVisitor, type ParseError, printParseErrorCode, visit } from 'jsonc-parser'
import { AppError } from '../contract/errors.ts'
import { jsonPointer } from '../contract/json-pointer.ts'

const MAX_BODY_BYTES = 1024 * 1024
const MAX_DEPTH = 64

/** Returns undefined for a body that may be absent and is. */
export async function readJsonBody(request: Request, { optional }: { optional: boolean }): Promise<unknown> {
  // No media type and no bytes is how clients send nothing at all.
  if (optional && !request.headers.has('content-type') && (await isEmpty(request))) return undefined
  checkMediaType(request.headers)
  const text = await readText(request)
  return optional && text === '' ? undefined : parseStrictly(text)
}

async function isEmpty({ body }: Request): Promise<boolean> {
  for await (const chunk of body ?? []) if (chunk.byteLength > 0) return false
  return true
}

function checkMediaType(headers: Headers): void {
  if (!isJson(headers.get('content-type') ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json')
  }
  if (headers.has('content-encoding')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding')
  }
}

/** Parameters do not matter, as long as they are some; only another charset would change what the bytes mean. */
function isJson(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const isHarmless = (parameter: string) =>
    parameter === '' || (/^[\w-]+=("[^"]*"|[\w.-]+)$/.test(parameter) && !/^charset=(?!"?utf-8"?$)/.test(parameter))
  return type === 'application/json' && parameters.every(isHarmless)
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const bytes = await readBounded(request.body)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalid('the body is not UTF-8 text')
  }
}

async function readBounded(body: Request['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength
      if (size > MAX_BODY_BYTES) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    // A client that goes away in the middle is no failure of ours.
    throw error instanceof AppError ? error : invalid('the body ended early')
  }
  return Buffer.concat(chunks)
}

/**
 * JSON.parse alone keeps the last of two equal keys, so two readers can see two different requests.
 * The walk in front of it refuses those, prototype keys, text no database can keep, and endless nesting.
 */
function parseStrictly(text: string): unknown {
  if (text === '') throw invalid('the body is empty; send a JSON object')
  const problem = firstProblem(text)
  if (problem) throw problem
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('the body is not valid JSON')
  }
}

function firstProblem(text: string): AppError | undefined {
  const seen: Set<string>[] = []
  let depth = 0
  let problem: AppError | undefined
  const report = (error: AppError) => {
    problem ??= error
  }
  const enter = () => {
    if (++depth > MAX_DEPTH) report(invalid(`the body is nested deeper than ${MAX_DEPTH} levels`))
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
      const at = (message: string) => report(invalid(message, jsonPointer([...path(), key])))
      if (keys?.has(key)) at(`the field '${printable(key)}' is there twice`)
      if (key === '__proto__') at("the field '__proto__' is not allowed")
      if (!isStorable(key)) at('a field name has characters that cannot be stored')
      keys?.add(key)
    },
    onLiteralValue: (value, _offset, _length, _line, _character, path) => {
      if (typeof value === 'string' && !isStorable(value)) {
        report(invalid('the text has a NUL character or half a surrogate pair', jsonPointer(path())))
      }
      if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
        report(invalid('the number is too large', jsonPointer(path())))
      }
    },
    onError: (error, offset, _length, line, character) =>
      report(syntaxError({ error, offset, length: 0 }, line, character)),
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

const syntaxError = ({ error }: ParseError, line: number, character: number) =>
  invalid(
    `the body is not valid JSON (line ${line + 1}, column ${character + 1}: ${words(printParseErrorCode(error))})`,
  )

const words = (code: string) => code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${MAX_BODY_BYTES / 1024} KiB`)

const invalid = (message: string, path?: string) =>
  new AppError('INVALID_REQUEST', `The request is not valid: ${message}`, {
    details: path === undefined ? [] : [{ path, message }],
  })
