// The tools. Whatever one of them throws is its answer, marked as an error.
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { calculate } from './calculate.ts'

const LONGEST_WAIT_SECONDS = 30

/** What clients may count on: nothing is changed, and nothing outside this process is asked. */
const harmless = { readOnlyHint: true, openWorldHint: false }

const zoneInput = z.object({
  zone: z.string().optional().describe('A time zone such as Europe/Berlin or America/New_York; UTC when left out'),
})
const expressionInput = z.object({
  expression: z.string().max(1000).describe('Numbers, + - * / and parentheses, such as (1.5 + 2) * 4'),
})
const textInput = z.object({ text: z.string().describe('What to give back') })
const secondsInput = z.object({ seconds: z.number().min(0).max(LONGEST_WAIT_SECONDS).describe('How long to wait') })
const reasonInput = z.object({ reason: z.string().default('no reason given').describe('What the error says') })

const answer = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })

/** ISO 8601 with the offset of the zone. */
function timeIn(zone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
    ...{ timeZone: zone, timeZoneName: 'longOffset' },
  })
  const part = Object.fromEntries(format.formatToParts().map(({ type, value }) => [type, value]))
  const offset = part.timeZoneName?.replace('GMT', '') || '+00:00'
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}${offset}`
}

export function createServer(): McpServer {
  const server = new McpServer({ name: 'example', version: '1.0.0' })

  server.registerTool(
    'time',
    {
      description: 'Tells the current date and time, in UTC or in a zone.',
      inputSchema: zoneInput,
      annotations: harmless,
    },
    ({ zone = 'UTC' }) => answer(timeIn(zone)),
  )
  server.registerTool(
    'calculate',
    {
      description: 'Works out an arithmetic expression, exactly as written. Use it instead of calculating yourself.',
      inputSchema: expressionInput,
      annotations: { ...harmless, idempotentHint: true },
    },
    ({ expression }) => answer(String(calculate(expression))),
  )
  server.registerTool(
    'echo',
    {
      description: 'Gives back the text it gets.',
      inputSchema: textInput,
      annotations: { ...harmless, idempotentHint: true },
    },
    ({ text }) => answer(text),
  )
  server.registerTool(
    'wait',
    {
      description: `Waits for up to ${LONGEST_WAIT_SECONDS} seconds, then answers.`,
      inputSchema: secondsInput,
      annotations: { ...harmless, idempotentHint: true },
    },
    async ({ seconds }, { mcpReq }) => {
      await sleep(seconds * 1000, undefined, { signal: mcpReq.signal })
      return answer(`Waited ${seconds} seconds.`)
    },
  )
  server.registerTool(
    'fail',
    { description: 'Always fails, with the reason it is given.', inputSchema: reasonInput, annotations: harmless },
    ({ reason }) => {
      throw new Error(reason)
    },
  )
  return server
}
