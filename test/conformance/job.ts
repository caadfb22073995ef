// What a scenario asks of the client under test.
import type { Json } from '../../src/contract/tool.ts'

export interface ToolCall {
  name: string
  arguments: { [key: string]: Json }
}

export interface Job {
  scenario: string
  url: string
  context: { toolCalls?: ToolCall[] }
}

/** What did not work, as the product says it. */
export type Complaints = string[]
