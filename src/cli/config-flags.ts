/** Flags made from the configuration's schema, and read back as texts by key. */
import { type Command, Option } from 'commander'
import type { Flags } from '../config/environment.ts'
import { LEAVES, type Leaf } from '../config/leaves.ts'

export function addConfigFlags(command: Command): Command {
  for (const leaf of LEAVES) if (leaf.flag !== undefined) command.addOption(toOption(leaf, leaf.flag))
  return command
}

export function readFlags(command: Command): Flags {
  const given: Record<string, unknown> = command.optsWithGlobals()
  const texts = LEAVES.flatMap((leaf) => {
    if (leaf.flag === undefined) return []
    return [[leaf.key, asText(given[toOption(leaf, leaf.flag).attributeName()])] as const]
  })
  return Object.fromEntries([...texts, ['home', asText(given.home)]])
}

// The bare flag of a boolean says true, so that `--insecure-no-auth` reads as in the manual.
function toOption(leaf: Leaf, flag: string): Option {
  const value = leaf.kind === 'boolean' ? '[true|false]' : `<${leaf.kind}>`
  return new Option(`${flag} ${value}`, `${leaf.description} (${leaf.env})`)
}

function asText(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value)
}
