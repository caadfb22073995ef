/**
 * Keeps web pages out. A page on another origin, or a name rebound to our address, shows itself by the Host and
 * Origin headers that a browser sends and a page cannot forge; programs without a browser are not touched.
 */
export interface Guard {
  /** Why the request is refused, or undefined when it may go on. */
  refusal(host: string | undefined, origin: string | undefined): string | undefined
}

export interface GuardSettings {
  allowed_hosts: readonly string[]
  allowed_origins: readonly string[]
  /** Our own addresses as the outside knows them; their hosts and origins are allowed too. */
  public_urls: readonly string[]
  /** The address we listen on, when it is not the default. */
  host: string | undefined
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const ANY_ADDRESS = ['0.0.0.0', '::']

export function createGuard(settings: GuardSettings): Guard {
  const listening = settings.host && !ANY_ADDRESS.includes(settings.host) ? [bracketed(settings.host)] : []
  const publicUrls = settings.public_urls.map((url) => new URL(url))
  const named = [...listening, ...settings.allowed_hosts, ...publicUrls.map((url) => url.hostname)]
  const hosts = new Set([...LOOPBACK, ...named.map((name) => name.toLowerCase())])
  const origins = new Set([...settings.allowed_origins.map(asOrigin), ...publicUrls.map((url) => url.origin)])

  return {
    refusal(host, origin) {
      if (!host || !(hosts.has(hostname(host)) || hosts.has(host.toLowerCase()))) {
        return `the Host '${(host ?? '').slice(0, 100)}' is not ours; add it to allowed_hosts (SVC_ALLOWED_HOSTS) if it should be`
      }
      if (origin === undefined || sameHost(origin, host) || origins.has(origin)) return undefined
      return 'web pages of other origins may not call this service (allowed_origins names the exceptions)'
    },
  }
}

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address)

/** As browsers write it: lower case, no default port, no path. */
const asOrigin = (text: string) => (URL.canParse(text) ? new URL(text).origin : text)

/** The port does not matter: containers and tunnels change it, and no attacker gains by naming another. */
const hostname = (host: string) => host.toLowerCase().replace(/:\d*$/, '')

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}
