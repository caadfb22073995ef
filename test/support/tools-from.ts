// Tools of a test's own, offered to every agent that wants them.
import type { Tool } from '../../src/contract/tool.ts'
import { chooseTools } from '../../src/tools/choose-tools.ts'
import { type Toolset, ToolsUnavailable } from '../../src/tools/toolset.ts'

export const toolsFrom = (tools: readonly Tool[]): Toolset => ({
  async offerTo(wishes) {
    const { chosen, missing } = chooseTools(
      tools.map(({ call: _, ...offered }) => offered),
      wishes.tools,
    )
    if (missing.length > 0) throw new ToolsUnavailable(`There are no such tools: ${missing.join(', ')}`)
    return chosen
  },
  bind: async (offered) =>
    offered.flatMap(({ name }) => {
      const tool = tools.find((known) => known.name === name)
      return tool ? [tool] : []
    }),
})
