/** Reads a JSON body: right media type, bounded size, UTF-8, strict syntax. */
import { AppError } from '../contract/errors.ts'
import { type Exchange, tooLarge } from './exchange.ts'
import { parseStrictly } from './strict-json.ts'

const MAX_BODY_BYTES = 1024 * 1024

/** Returns undefined for a body that may be absent and is. */
export async function readJsonBody(exchange: Exchange, { optional }: { optional: boolean }): Promise<unknown> {
  // No media type and no bytes is how clients send nothing at all.
  if (optional && exchange.header('content-type') === undefined && (await isEmpty(exchange))) return undefined
  checkMediaType(exchange)
  if (Number(exchange.header('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES)
  const text = toText(await exchange.body(MAX_BODY_BYTES))
  return optional && text === '' ? undefined : parseStrictly(text)
}

const isEmpty = (exchange: Exchange): Promise<boolean> =>
  exchange.body(0).then(
    () => true,
    () => false,
  )

function checkMediaType({ header }: Exchange): void {
  if (!isJson(header('content-type') ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json')
  }
  if (header('content-encoding') !== undefined) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding')
  }
}

/** Parameters do not matter, as long as they are some; only another charset would change what the bytes mean. */
function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const isHarmless = (parameter: string) =>
    parameter === '' || (/^[\w-]+=("[^"]*"|[\w.-]+)$/.test(parameter) && !/^charset=(?!"?utf-8"?$)/.test(parameter))
  return type === 'application/json' && parameters.every(isHarmless)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new AppError('INVALID_REQUEST', 'The request is not valid: the body is not UTF-8 text')
  }
}
