/** One tool of a list as its server describes it: to be used, or the reason why it cannot be. */
import { isTooDeep } from '../../../contract/json-depth.ts'
import { isJsonObject, type Json } from '../../../contract/tool.ts'
import type { ListedTool } from '../connection.ts'
import { oneLine } from '../stdio/last-words.ts'
import { hasValidHeaders } from './param-headers.ts'

interface JudgeOptions {
  /** Whether arguments may travel in headers, which not every declaration allows. */
  mirrorsHeaders: boolean
}

const MAX_NAME = 256
const MAX_DEFINITION_BYTES = 128 * 1024
const MAX_DESCRIPTION = 16 * 1024
const SHOWN_NAME = 64

export function judgeTool(raw: unknown, { mirrorsHeaders }: JudgeOptions): ListedTool | string {
  const tool = raw as Json
  if (!isJsonObject(tool) || typeof tool.name !== 'string' || tool.name === '') return 'one has no name'
  const { name, description, inputSchema, annotations } = tool
  const shown = `'${oneLine(name).slice(0, SHOWN_NAME)}'`
  if (!name.isWellFormed()) return `${shown} has a name that is no valid text`
  if (name.length > MAX_NAME) return `${shown} has a name of more than ${MAX_NAME} characters`
  const problem = sizeProblem(tool)
  if (problem) return `${shown} ${problem}`
  if (!isJsonObject(inputSchema) || inputSchema.type !== 'object') return `${shown} has no object as its input schema`
  if (mirrorsHeaders && !hasValidHeaders(inputSchema)) return `${shown} declares an invalid x-mcp-header`
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : '',
    input_schema: inputSchema,
    annotations: isJsonObject(annotations) ? annotations : {},
  }
}

function sizeProblem(tool: Json): string | undefined {
  const json = textOf(tool)
  if (json === undefined || isTooDeep(json)) return 'is nested deeper than 64 levels'
  return Buffer.byteLength(json) > MAX_DEFINITION_BYTES ? 'is larger than 128 KiB' : undefined
}

/** Undefined when it is nested so deep that there is no stack for it. */
function textOf(tool: Json): string | undefined {
  try {
    return JSON.stringify(tool)
  } catch {
    return undefined
  }
}
