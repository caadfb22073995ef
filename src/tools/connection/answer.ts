/** What a tool answered, as the engine takes it: text as text, anything else as the JSON the server sent, masked. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import { isJsonObject, type Json, type ToolAnswer } from '../../contract/tool.ts'
import { type Mask, maskJson } from '../servers/secrets/mask.ts'
import { ServerFailure } from './connection.ts'
import { type CallParts, partsOf } from './set-aside.ts'

/** Whoever walks through an answer that is nested deeper than this may run out of stack. */
const DEEPEST = 500

export function toAnswer(result: CallToolResult, mask: Mask): ToolAnswer {
  const output = outputOf(partsOf(result))
  if (isDeeperThan(output, DEEPEST))
    throw new ServerFailure('rubbish', `the answer is nested deeper than ${DEEPEST} levels`)
  return { output: maskJson(output, mask), is_error: result.isError ?? false }
}

function outputOf({ content, structuredContent }: CallParts): Json {
  if (structuredContent !== undefined) return structuredContent as Json
  const parts = content as Json[]
  const texts = parts.flatMap((part) =>
    isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  )
  return texts.length === parts.length ? texts.join('\n') : parts
}

function isDeeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1))
}
