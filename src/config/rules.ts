/** Rules between keys, and what this version cannot do yet. */
import { isIPv4 } from 'node:net'
import type { Origin, Problem } from './problem.ts'
import { ConfigError, placeOf } from './problem.ts'
import type { Config } from './schema.ts'

/** The values that are right so far; a wrong one is absent, so that no rule speaks about it a second time. */
export interface Settled {
  readonly values: ReadonlyMap<string, unknown>
  readonly origins: ReadonlyMap<string, Origin>
}

export function brokenRules(settled: Settled): Problem[] {
  return [...oauthInLocalMode(settled), ...openToOthers(settled), ...samePorts(settled)]
}

function oauthInLocalMode(settled: Settled): Problem[] {
  if (!isOn(settled, 'local_mode') || !isOn(settled, 'platform.oauth.enabled')) return []
  const message = 'platform.oauth.enabled needs local_mode: false, because local mode has no authentication'
  return [problemAt(settled, 'platform.oauth.enabled', message)]
}

function openToOthers(settled: Settled): Problem[] {
  const host = settled.values.get('host')
  if (!isOn(settled, 'local_mode') || settled.values.get('insecure_no_auth') !== false) return []
  if (typeof host !== 'string' || isLoopback(host)) return []
  const message =
    `host ${JSON.stringify(host)} is open to other machines, and local mode has no authentication: ` +
    'leave host out to listen on loopback, or accept the risk with --insecure-no-auth (SVC_INSECURE_NO_AUTH=true)'
  return [problemAt(settled, 'host', message)]
}

const PORTS = ['api.port', 'mcp.port', 'agent_mcp.port']

function samePorts(settled: Settled): Problem[] {
  const portOf = (key: string) => settled.values.get(key)
  return PORTS.flatMap((key, index) => {
    const twin = PORTS.slice(0, index).find((other) => portOf(other) === portOf(key))
    if (!twin || portOf(key) === 0 || portOf(key) === undefined) return []
    return [problemAt(settled, key, `${key} and ${twin} are both ${portOf(key)}: each needs a port of its own`)]
  })
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

function isOn(settled: Settled, key: string): boolean {
  return settled.values.get(key) === true
}

function problemAt(settled: Settled, key: string, message: string): Problem {
  return { key, place: placeOf(settled.origins.get(key) ?? { kind: 'default' }, key), message }
}

/** For `serve`: better no start than one that ignores what was asked for. */
export function refuseWhatIsNotHereYet(config: Config): void {
  const problems: Problem[] = []
  const refuse = (key: string, message: string) => problems.push({ key, place: key, message })
  if (!config.local_mode) {
    refuse('local_mode', 'authentication is not part of this version, and it never runs open; leave this out')
  }
  if (config.database_url) refuse('database_url', 'PostgreSQL is not part of this version; leave it out for SQLite')
  if (problems.length > 0) throw new ConfigError(problems, config.home)
}
