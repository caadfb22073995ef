/** A server may put into the description of a tool what it was given in confidence. Names stay: they are for calling. */
import { type Mask, maskJson } from '../../servers/secrets/mask.ts'
import type { ToolList } from '../connection.ts'

export const maskList = ({ tools, complaint }: ToolList, mask: Mask): ToolList => ({
  tools: tools.map((tool) => ({
    name: tool.name,
    description: mask(tool.description),
    input_schema: maskJson(tool.input_schema, mask) as typeof tool.input_schema,
    annotations: maskJson(tool.annotations, mask) as typeof tool.annotations,
  })),
  complaint: complaint && mask(complaint),
})
