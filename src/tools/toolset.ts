/** Which tools a run may call. */
import type { Tool } from '../contract/tool.ts'

interface ToolWishes {
  environment: string
  environment_id: number
  /** Names; null = every tool of the environment. */
  tools: readonly string[] | null
  notify: boolean
}

export interface Toolset {
  /** Rejects with ToolsUnavailable when the agent names a tool that is not to be had. */
  forAgent(wishes: ToolWishes): Promise<Tool[]>
}

/** The message is for the person who reads the run. */
export class ToolsUnavailable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolsUnavailable'
  }
}

/** The tools that an agent wants out of those there are. */
function selectTools(available: readonly Tool[], wanted: readonly string[] | null): Tool[] {
  if (wanted === null) return [...available]
  const byName = new Map(available.map((tool) => [tool.name, tool]))
  const missing = wanted.filter((name) => !byName.has(name))
  if (missing.length > 0) {
    const message = `The agent wants tools that its environment does not have: ${missing.join(', ')}`
    throw new ToolsUnavailable(message)
  }
  return available.filter(({ name }) => wanted.includes(name))
}

export const toolsFrom = (available: readonly Tool[]): Toolset => ({
  forAgent: async ({ tools }) => selectTools(available, tools),
})
