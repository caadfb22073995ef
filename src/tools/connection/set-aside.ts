/**
 * The SDK checks every part of an answer: it refuses a whole list of tools for one that is malformed, and an answer of
 * hundreds of thousands of parts keeps it busy for seconds. So a transport sets the parts aside before the SDK sees the
 * answer, and they are judged at the other side of it.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { ServerFailure } from './connection.ts'

const ASIDE = 'io.agenthost/aside'

type Result = { [key: string]: unknown }

/** What the SDK gets to see in place of the result: the fields that it needs, and nothing of what it would walk through. */
const PLACEHOLDERS: Readonly<Record<string, (result: Result) => Result>> = {
  'tools/list': ({ tools, nextCursor, resultType, ttlMs, cacheScope }) =>
    given({ nextCursor, resultType, ttlMs, cacheScope, tools: [], [ASIDE]: tools }),
  'tools/call'({ content, structuredContent, isError, resultType }) {
    // It asks for something instead of answering.
    if (resultType === 'input_required') return { resultType }
    return given({ isError, resultType, content: [], [ASIDE]: { content, structuredContent } })
  },
}

const given = (result: Result) => Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined))

/** The result of a request of this method as the SDK may see it. */
export const withoutParts = (result: Result, method: string): Result =>
  Object.hasOwn(PLACEHOLDERS, method) ? (PLACEHOLDERS[method]?.(result) ?? result) : result

/** Changes the answer to a request of this method. */
export function setAside(message: JSONRPCMessage, method: string): void {
  if ('result' in message) message.result = withoutParts(message.result, method)
}

/** A page of the list as it comes out at the other side of the SDK. */
export const toolsPage = z
  .looseObject({ [ASIDE]: z.array(z.unknown()), nextCursor: z.string().nullish() })
  .transform((page) => ({ tools: page[ASIDE], cursor: page.nextCursor || undefined }))

export interface CallParts {
  content: readonly unknown[]
  /** Undefined when there is none. */
  structuredContent: unknown
}

/** The parts of a call's result as it comes out at the other side of the SDK. */
export function partsOf(result: Result): CallParts {
  const { content = [], structuredContent } = (result[ASIDE] ?? {}) as Partial<CallParts>
  if (!Array.isArray(content)) throw new ServerFailure('rubbish', 'the answer has no list of parts')
  return { content, structuredContent }
}
