/** The address and headers of a server, checked once nothing in them is variable any more. */
import type { HttpTarget } from './server-config.ts'

/** What HTTP calls a token. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_TEXT = /^[\t\x20-\x7E\x80-\xFF]*$/
/** The protocol sets these itself. */
const OWNED: ReadonlySet<string> = new Set([
  'mcp-session-id',
  'mcp-protocol-version',
  'content-type',
  'accept',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
])

/** The target, or what is wrong, without quoting a value. */
export function httpTarget(url: string, headers: Readonly<Record<string, string>>): HttpTarget | string {
  const address = URL.parse(url)
  if (!address || !/^https?:$/.test(address.protocol)) return 'url must be an address with http:// or https://'
  const mistake = headersMistake(headers)
  if (mistake) return mistake
  return { kind: 'http', ...withoutCredentials(address, headers) }
}

function headersMistake(headers: Readonly<Record<string, string>>): string | undefined {
  const seen = new Set<string>()
  for (const [name, text] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) return 'headers has a name that no header can have'
    const plain = name.toLowerCase()
    if (OWNED.has(plain)) return `headers must not set ${plain}: the protocol does`
    if (seen.has(plain)) return `headers has ${plain} twice`
    if (!HEADER_TEXT.test(text)) return `headers.${name} has a line break or another character that no header can have`
    seen.add(plain)
  }
  return undefined
}

/** An address is not requested with a password in it: it goes into the header that is meant for it. */
function withoutCredentials(address: URL, headers: Readonly<Record<string, string>>): Omit<HttpTarget, 'kind'> {
  const { username, password } = address
  if (username + password === '') return { url: address.href, headers }
  address.username = ''
  address.password = ''
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const basic = Buffer.from(`${plain(username)}:${plain(password)}`).toString('base64')
  return { url: address.href, headers: isGiven ? headers : { ...headers, Authorization: `Basic ${basic}` } }
}

function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
