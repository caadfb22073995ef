/** Finds the tools that an agent names among those there are. */
import type { OfferedTool } from '../contract/tool.ts'

export interface Choice {
  chosen: OfferedTool[]
  /** Names that mean none of them. */
  missing: string[]
}

/** null wants everything. */
export function chooseTools(available: readonly OfferedTool[], wanted: readonly string[] | null): Choice {
  if (wanted === null) return { chosen: [...available], missing: [] }
  const meant = new Map(wanted.map((name) => [name, meaning(name, available)]))
  const chosen = new Set(meant.values())
  return {
    chosen: available.filter((tool) => chosen.has(tool)),
    missing: wanted.filter((name) => !meant.get(name)),
  }
}

/** A tool's name; `<server>__<tool>`, whether it needs it or not; or `__<tool>`, as imported prompt files write it. */
function meaning(wanted: string, available: readonly OfferedTool[]): OfferedTool | undefined {
  return (
    available.find(({ name }) => name === wanted) ??
    available.find((tool) => `${tool.server}__${ownName(tool)}` === wanted) ??
    (wanted.startsWith('__') ? theOnly(sharing(wanted.slice(2), available)) : undefined)
  )
}

/** What a name could have meant: the tools, of one server or of several, that call themselves so. */
export const sharing = (own: string, available: readonly OfferedTool[]): OfferedTool[] =>
  available.filter((tool) => ownName(tool) === own)

const ownName = ({ name, own_name = name }: OfferedTool) => own_name

const theOnly = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined)
