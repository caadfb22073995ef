/** The script that the offline model finds in a task: tool calls in order, and how long each turn takes. */
import { isTooDeep } from '../contract/json-depth.ts'
import type { CallInput } from '../contract/run.ts'
import type { ToolDescription } from './models.ts'

export interface OfflineScript {
  calls: ScriptedCall[]
  /** Before the final answer. */
  final_sleep_ms: number
}

interface ScriptedCall {
  name: string
  input: CallInput
  sleep_ms: number
}

const SLEEP = /^sleep\s+(\d+)$/

export function readScript(task: string, tools: readonly ToolDescription[]): OfflineScript {
  const script: OfflineScript = { calls: [], final_sleep_ms: 0 }
  for (const line of task.split('\n')) readLine(line.trim(), script)
  if (script.calls.length > 0) return script
  const named = tools.find((tool) => occurs(tool.name, task))
  return named ? { ...script, calls: [{ name: named.name, input: {}, sleep_ms: 0 }] } : script
}

/** A sleep counts for the call that follows; what no call follows is left for the final answer. */
function readLine(line: string, script: OfflineScript): void {
  const sleep = SLEEP.exec(line)?.[1]
  if (sleep !== undefined) script.final_sleep_ms += Number(sleep)
  const [name, json] = callIn(line)
  const input = name === undefined ? undefined : objectFrom(json)
  if (name === undefined || input === undefined) return
  script.calls.push({ name, input, sleep_ms: script.final_sleep_ms })
  script.final_sleep_ms = 0
}

/** By hand: what a caller writes never meets a pattern that can be made to search for long. */
function callIn(line: string): [name?: string, json?: string] {
  const [word, rest] = cutAtBlank(line)
  if (word !== 'call' || rest === '') return []
  const [name, json] = cutAtBlank(rest)
  return [name, json === '' ? '{}' : json]
}

function cutAtBlank(text: string): [string, string] {
  const blank = text.search(/\s/)
  return blank < 0 ? [text, ''] : [text.slice(0, blank), text.slice(blank).trimStart()]
}

/** Anything but an object makes the line plain text. */
function objectFrom(json = ''): CallInput | undefined {
  try {
    if (isTooDeep(json)) return undefined
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as CallInput) : undefined
  } catch {
    return undefined
  }
}

/** As a word of its own: `add` is neither in `address` nor in `add-on`. */
function occurs(name: string, text: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${RegExp.escape(name)}(?![\\p{L}\\p{N}_-])`, 'u').test(text)
}
