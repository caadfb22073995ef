/** A server may put into the definition of a tool what it was given in confidence. */
import { type Mask, maskJson } from '../../servers/secrets/mask.ts'
import type { ListedTool, ToolList } from '../connection.ts'

/** A name cannot be masked, since the tool is called by it: a tool with a secret in its name is left out. */
export function maskList({ tools, complaint }: ToolList, mask: Mask): ToolList {
  const kept = tools.filter(({ name }) => mask(name) === name)
  const complaints = [complaint, kept.length < tools.length ? 'tools with a secret in their names were left out' : null]
  return {
    tools: kept.map((tool) => masked(tool, mask)),
    complaint: mask(complaints.filter(Boolean).join('. ')) || null,
  }
}

const masked = ({ name, description, input_schema, annotations }: ListedTool, mask: Mask): ListedTool => ({
  name,
  description: mask(description),
  input_schema: maskJson(input_schema, mask) as ListedTool['input_schema'],
  annotations: maskJson(annotations, mask) as ListedTool['annotations'],
})
