/** One entry of a server file as a server: ready to connect, or with the reason why it is not. */
import { createHash } from 'node:crypto'
import type { ShownTarget } from '../../contract/mcp-server.ts'
import { checkEntry, type Entry } from './entry.ts'
import { type Resolved, resolveEntry } from './resolve.ts'
import { createMask, type Mask } from './secrets/mask.ts'
import { shownTarget } from './secrets/shown.ts'
import type { FoundServer, HttpTarget, ServerConfig, StdioTarget } from './server-config.ts'
import { VARIABLES_FILE, type Variables } from './variables/variables.ts'

export interface Surroundings {
  readonly environment: string
  /** The environment's own. */
  readonly folder: string
  readonly variables: Variables
  /** What no server of the environment may show, whichever it belongs to. */
  mask(text: string): string
}

interface Given {
  readonly file: string
  readonly name: string
  readonly value: unknown
}

/** A text is what is wrong with the entry. */
export function toServer({ file, name, value }: Given, around: Surroundings): FoundServer | string {
  const entry = checkEntry(value)
  if (typeof entry === 'string') return entry
  const resolved = resolveEntry(entry, around.variables.find, around.folder)
  // What is wrong without any variable's doing is wrong in the file.
  if (typeof resolved.target === 'string' && !resolved.usesVariables) return resolved.target
  const own = createMask(resolved.secrets)
  const mask = (text: string) => around.mask(own(text))
  return {
    file,
    name,
    transport: entry.target.kind,
    shown: masked(shownTarget(entry), mask),
    disabled: entry.disabled,
    config: toConfig({ file, name, entry, resolved, mask }, around),
  }
}

/** A secret of one place may stand in another, where nothing tells that it is one. */
function masked(shown: ShownTarget, mask: Mask): ShownTarget {
  return 'url' in shown ? { url: mask(shown.url) } : { command: mask(shown.command), args: shown.args.map(mask) }
}

interface ConfigParts {
  readonly file: string
  readonly name: string
  readonly entry: Entry
  readonly resolved: Resolved
  readonly mask: Mask
}

function toConfig({ file, name, entry, resolved, mask }: ConfigParts, around: Surroundings): FoundServer['config'] {
  const { environment, variables } = around
  const [broken] = resolved.usesVariables ? variables.errors : []
  if (broken) {
    return { problem: `its variables cannot be read: environments/${broken.file}: ${broken.message}`, is_unclear: true }
  }
  if (resolved.missing.length > 0) return { problem: notSet(resolved.missing, environment) }
  const { target } = resolved
  if (typeof target === 'string') return { problem: `${target} (after its variables are filled in)` }
  const { timeout_ms, connect_timeout_ms, retry, trusted } = entry
  const behaviour = {
    timeout_ms,
    connect_timeout_ms,
    ...(retry && { retry }),
    ...(trusted !== undefined && { trusted }),
  }
  return { environment, name, file, hash: hashOf(target, behaviour, resolved.secrets), target, ...behaviour, mask }
}

function notSet(names: readonly string[], environment: string): string {
  const [what, them] =
    names.length === 1
      ? [`variable ${names[0]} is not set`, 'it']
      : [`variables ${new Intl.ListFormat('en').format(names)} are not set`, 'them']
  return `${what}; put ${them} into environments/${environment}/${VARIABLES_FILE} or the environment`
}

type Behaviour = Pick<ServerConfig, 'timeout_ms' | 'connect_timeout_ms' | 'retry' | 'trusted'>

/** Whatever order the file has its keys in. */
function hashOf(
  target: StdioTarget | HttpTarget,
  { timeout_ms, connect_timeout_ms, retry, trusted }: Behaviour,
  secrets: readonly string[],
): string {
  const where =
    target.kind === 'stdio'
      ? [target.kind, target.command, target.args, sorted(target.env), target.cwd]
      : [target.kind, target.url, sorted(target.headers)]
  // What is masked belongs to it: a text may become a secret without any other change.
  const promises = [timeout_ms, connect_timeout_ms, retry ?? null, trusted ?? false]
  const canonical = JSON.stringify([where, promises, secrets.toSorted()])
  return createHash('sha256').update(canonical).digest('hex')
}

const sorted = (record: Readonly<Record<string, string>>) =>
  Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))
