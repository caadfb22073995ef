/** Asks a server for its tools, all pages of them, and keeps what can be used. */
import type { Client } from '@modelcontextprotocol/client'
import type { ListedTool, ToolList } from '../connection.ts'
import { toolsPage } from '../set-aside.ts'
import { judgeTool } from './listed-tool.ts'

const MAX_PAGES = 64
const MAX_TOOLS = 1_000
/** Of all definitions together: every run that starts reads them, and keeps them. */
const MAX_ALL_BYTES = 4 * 1024 * 1024
/** Reasons that a complaint names, of however many there are. */
const MAX_REASONS = 5

export async function listTools(client: Client, timeoutMs: number): Promise<ToolList> {
  // The SDK would print to the console.
  if (!client.getServerCapabilities()?.tools) return { tools: [], complaint: null }
  const deadline = performance.now() + timeoutMs
  const shelf = createShelf(client.getProtocolEra() === 'modern' && client.transport?.hasPerRequestStream === true)
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const timeout = Math.max(1, deadline - performance.now())
    const answer = await client.request({ method: 'tools/list', params }, toolsPage, { timeout })
    for (const tool of answer.tools) shelf.add(tool)
    if (answer.cursor === undefined) return shelf.list()
    cursor = answer.cursor
  }
  return shelf.list(`the list has more than ${MAX_PAGES} pages; the rest was not read`)
}

/** Judges each tool when it comes, so that no more is held than is kept. */
function createShelf(mirrorsHeaders: boolean) {
  const kept = new Map<string, ListedTool>()
  const reasons = new Set<string>()
  let leftOut = 0
  let bytes = 0
  function leaveOut(reason: string): void {
    leftOut++
    if (reasons.size < MAX_REASONS) reasons.add(reason)
  }
  function complaints(): string[] {
    if (leftOut === 0) return []
    return [`${leftOut === 1 ? '1 tool was' : `${leftOut} tools were`} left out: ${[...reasons].join('; ')}`]
  }
  function keep(tool: ListedTool): void {
    kept.set(tool.name, tool)
    bytes += sizeOf(tool)
  }
  return {
    add(raw: unknown): void {
      const tool = judgeTool(raw, { mirrorsHeaders })
      if (typeof tool === 'string') leaveOut(tool)
      else if (kept.has(tool.name)) leaveOut('one is there twice')
      else if (kept.size === MAX_TOOLS) leaveOut(`there are more than ${MAX_TOOLS}`)
      else if (bytes + sizeOf(tool) > MAX_ALL_BYTES) leaveOut('together they are larger than 4 MiB')
      else keep(tool)
    },
    list(...others: string[]): ToolList {
      return { tools: [...kept.values()], complaint: [...complaints(), ...others].join('. ') || null }
    },
  }
}

const sizeOf = (tool: ListedTool) => JSON.stringify(tool).length
