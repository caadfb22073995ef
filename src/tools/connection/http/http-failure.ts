/** What an HTTP status of an MCP server means for whoever wrote its address down. */
import type { SdkHttpError } from '@modelcontextprotocol/client'
import { ServerFailure, SessionLost } from '../connection.ts'
import type { Phase } from '../phase.ts'

const NO_ENDPOINT = 'check its url. Only Streamable HTTP is spoken, not the older HTTP+SSE'
const ACCESS_DENIED = 'the server denies access (403): check the headers in its file'
const WORDS: Readonly<Record<number, string>> = {
  401: 'the server wants authentication (401): give it a header such as Authorization in its file',
  403: ACCESS_DENIED,
  404: `there is no MCP server at this address (404): ${NO_ENDPOINT}`,
  405: `there is no MCP server at this address (405): ${NO_ENDPOINT}`,
  429: 'the server gets too many requests (429)',
}

/** What many servers say instead of 404, from an example of the SDK. The whole message: a tool may speak of sessions, too. */
const OFTEN_COPIED = /^(?:bad request: )?(?:no valid session id provided|invalid session id|session not found)\.?$/i

/** More than this is no message for people. It is not cut: half a secret would not be masked. */
const LONGEST = 16 * 1024

interface HttpContext {
  phase: Phase
  has_session: boolean
}

export function httpFailure({ status, message, data }: SdkHttpError, context: HttpContext): ServerFailure {
  const { phase, has_session } = context
  const said = wordsOf(data.text)
  if (has_session && (status === 404 || (status === 400 && OFTEN_COPIED.test(said)))) return sessionLost()
  if (status >= 500)
    return new ServerFailure(phase === 'connect' ? 'unreachable' : 'lost', `the server fails with status ${status}`)
  if (status >= 300 && status < 400) return new ServerFailure('refused', redirected(message))
  return new ServerFailure(
    'refused',
    WORDS[status] ?? `the server answered with status ${status}${said && `: ${said}`}`,
  )
}

export const accessDenied = () => new ServerFailure('refused', ACCESS_DENIED)

export const sessionLost = () => new SessionLost('the server has forgotten the session')

/** Of an error of the protocol its message, of anything else the beginning. */
function wordsOf(text: unknown): string {
  if (typeof text !== 'string') return ''
  try {
    return String(JSON.parse(text).error.message)
  } catch {
    return text.length > LONGEST ? '' : text
  }
}

/** The SDK says where to; what it calls the policy is of no use here. */
const redirected = (message: string) => message.replace(/^.*?(?=Redirect)/, '').replace(/ \(redirectPolicy: .*\)$/, '')
