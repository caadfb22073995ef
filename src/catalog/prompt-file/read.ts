/** Owns reading a prompt file: YAML front matter with the agent's settings, then the prompt. */
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { isVariableName } from '../template/nodes.ts'
import { isTaskName, type VariableSettings } from '../template/variables.ts'
import { type Header, pairsByKey, parseHeader } from './header.ts'
import { PromptFileError, promptOf, splitFile, withNewlines } from './text.ts'

/** The settings a file makes; a key that is absent, or null in the file, leaves the default. */
export interface PromptSettings {
  name?: string
  description?: string
  model?: string
  tools?: string[]
  notify?: boolean
  enabled?: boolean
  max_steps?: number
  timeout_seconds?: number
  max_concurrency?: number
  variables?: Record<string, VariableSettings>
}

export type SettingName = keyof PromptSettings

export interface PromptFile {
  settings: PromptSettings
  prompt: string
  /** The line of the file at which the prompt starts. */
  promptLine: number
  /** Keys of the header that are no settings: kept, but perhaps misspelt. */
  unknownKeys: string[]
}

type Readers = { [K in SettingName]-?: (node: Node, reading: Reading) => NonNullable<PromptSettings[K]> }

/** One key being read: what its value is measured against and what an error names. */
interface Reading {
  key: string
  header: Header
}

const READERS: Readers = {
  name: readString,
  description: readString,
  model: readString,
  tools: readStrings,
  notify: readBoolean,
  enabled: readBoolean,
  max_steps: readCount,
  timeout_seconds: readCount,
  max_concurrency: readCount,
  variables: readVariables,
}

export function isSettingName(key: string): key is SettingName {
  return Object.hasOwn(READERS, key)
}

/** Throws `PromptFileError`. The prompt is not checked as a template here. */
export function readPromptFile(text: string): PromptFile {
  const parts = splitFile(text)
  const header = parseHeader(withNewlines(parts.header))
  const before = withNewlines(parts.open + parts.header + parts.close)
  const blank = parts.open !== '' && /^\r?\n/.test(parts.body) ? 1 : 0
  return {
    settings: readSettings(header),
    prompt: promptOf(parts),
    promptLine: before.split('\n').length + blank,
    unknownKeys: [...header.pairs.keys()].filter((key) => !isSettingName(key)),
  }
}

function readSettings(header: Header): PromptSettings {
  const entries = [...header.pairs].flatMap(([key, pair]) => {
    const node = isSettingName(key) ? resolve(pair.value, header) : undefined
    return node && isSettingName(key) ? [[key, READERS[key](node, { key, header })]] : []
  })
  return Object.fromEntries(entries)
}

/** The node itself, or the one an alias stands for; nothing for null. */
function resolve(value: unknown, { doc }: Header): Node | undefined {
  const node = isAlias(value) ? value.resolve(doc) : value
  if (isScalar(node)) return node.value === null ? undefined : node
  return isMap(node) || isSeq(node) ? node : undefined
}

function scalarOf(node: Node | undefined): unknown {
  return isScalar(node) ? node.value : undefined
}

function readString(node: Node, reading: Reading): string {
  const value = scalarOf(node)
  if (typeof value === 'string') return value
  throw wrong(node, reading, 'must be text; put it in quotes')
}

function readBoolean(node: Node, reading: Reading): boolean {
  const value = scalarOf(node)
  if (typeof value === 'boolean') return value
  throw wrong(node, reading, 'must be true or false')
}

function readCount(node: Node, reading: Reading): number {
  const value = scalarOf(node)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw wrong(node, reading, 'must be a whole number above 0')
}

function readStrings(node: Node, reading: Reading): string[] {
  if (!isSeq(node)) throw wrong(node, reading, 'must be a list of names, such as [one, two]')
  return node.items.map((item) => {
    const value = scalarOf(resolve(item, reading.header))
    if (typeof value === 'string') return value
    throw wrong(item, reading, 'must hold only text; put each name in quotes')
  })
}

function readVariables(node: Node, reading: Reading): Record<string, VariableSettings> {
  if (!isMap(node)) throw wrong(node, reading, 'must be lines of "variable: { description, default }"')
  const entries = [...pairsByKey(node)].map(([name, pair]): [string, VariableSettings] => {
    const key = `variables.${name}`
    if (!isVariableName(name)) {
      throw wrong(pair.key, { ...reading, key }, 'is not a variable name; use letters, digits and _')
    }
    if (isTaskName(name)) throw wrong(pair.key, { ...reading, key }, 'is the task of the run; remove it')
    return [name, readVariable(resolve(pair.value, reading.header), { ...reading, key })]
  })
  return Object.fromEntries(entries)
}

function readVariable(node: Node | undefined, reading: Reading): VariableSettings {
  if (!node) return {}
  if (isScalar(node)) return { default: readText(node, reading) }
  if (!isMap(node)) throw wrong(node, reading, 'must be a default, or a description and a default')
  const pairs = pairsByKey(node)
  const settings: VariableSettings = {}
  for (const key of ['description', 'default'] as const) {
    const value = resolve(pairs.get(key)?.value, reading.header)
    if (value) settings[key] = readText(value, { ...reading, key: `${reading.key}.${key}` })
  }
  return settings
}

/** Values of variables are text: `default: 1.50` means the four characters that stand there. */
function readText(node: Node, reading: Reading): string {
  if (!isScalar(node)) throw wrong(node, reading, 'must be text')
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
}

function wrong(node: unknown, { key, header }: Reading, problem: string): PromptFileError {
  return new PromptFileError(`\`${key}\` ${problem}`, header.lineOf(node))
}
