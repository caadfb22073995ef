/**
 * How tools of several servers get names that cannot be mistaken for each other: a tool's own name when nothing else
 * in the environment has it, else `<server>__<tool>`. Models take at most 64 safe characters.
 */
import { createHash } from 'node:crypto'

export interface NamedTool {
  server: string
  /** What its server calls it. */
  own_name: string
}

/** Names of what is built in: a server's tool of that name is always called `<server>__<tool>`. */
const BUILT_IN: ReadonlySet<string> = new Set(['notify'])
const LONGEST = 64
/** Two underscores at the beginning are how imported files refer to tools, and how JavaScript names its oddities. */
const SAFE = new RegExp(`^(?!__)[A-Za-z0-9_-]{1,${LONGEST}}$`)

/** One name for each tool, in the same order. The same tools get the same names, whatever their order. */
export function nameTools(tools: readonly NamedTool[]): string[] {
  const ownNames = tally(tools.map(({ own_name }) => own_name))
  const exactNames = tally(tools.map(exact))
  // A server may call a tool what another one's tool would get.
  const reserved = new Set([...BUILT_IN, ...tools.map(hashed)])
  const isFree = (name: string) => SAFE.test(name) && !reserved.has(name)
  const isPlain = ({ own_name }: NamedTool) => isFree(own_name) && ownNames.get(own_name) === 1
  const plain = new Set(tools.filter(isPlain).map(({ own_name }) => own_name))
  const isExact = (tool: NamedTool) =>
    isFree(exact(tool)) && !plain.has(exact(tool)) && exactNames.get(exact(tool)) === 1
  return tools.map((tool) => {
    if (isPlain(tool)) return tool.own_name
    return isExact(tool) ? exact(tool) : hashed(tool)
  })
}

const exact = ({ server, own_name }: NamedTool) => `${server}__${own_name}`

/** Two tools may look alike once their odd characters are gone; the hash of the whole keeps them apart. */
function hashed(tool: NamedTool): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([tool.server, tool.own_name]))
    .digest('hex')
    .slice(0, 16)
  return `${exact(tool)
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, LONGEST - 17)}_${hash}`
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
