/** Who is at the other end, as far as the connection tells; nothing that a caller writes can change it. */
import { isIP } from 'node:net'
import type { RunSource } from '../contract/run.ts'
import type { Exchange } from './exchange.ts'

const MOST_USER_AGENT = 512

export type Caller = Pick<RunSource, 'address' | 'user_agent' | 'request_id'>

/** With `trustProxy` the connection is the proxy's, and the address is what that proxy says. */
export function callerOf({ header, remoteAddress }: Exchange, requestId: string, trustProxy: boolean): Caller {
  const forwarded = trustProxy ? forwardedBy(header('x-forwarded-for')) : undefined
  return {
    address: forwarded ?? plainAddress(remoteAddress) ?? null,
    user_agent: header('user-agent')?.slice(0, MOST_USER_AGENT) ?? null,
    request_id: requestId,
  }
}

/** A proxy adds what it saw at the end of the list; all that stands before it came from the client, true or not. */
function forwardedBy(header: string | undefined): string | undefined {
  const last = header?.split(',').at(-1)?.trim() ?? ''
  return plainAddress(withoutPort(last))
}

/** Some proxies write the port too: `192.0.2.1:443` and `[2001:db8::1]:443`. */
function withoutPort(text: string): string {
  const [, bracketed, dotted] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? []
  return bracketed ?? dotted ?? text
}

/** An IPv4 address looks the same whether or not the port also takes IPv6. */
function plainAddress(text: string | undefined): string | undefined {
  const plain = text?.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
  return plain && isIP(plain) ? plain : undefined
}
