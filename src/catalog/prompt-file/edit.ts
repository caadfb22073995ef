/** Owns changing a prompt file in place: only the lines of a changed key are written anew, all else stays as it is. */
import { isDeepStrictEqual } from 'node:util'
import { editChunk, type KeyChange, newChunk } from './chunk.ts'
import { offsetOf, parseHeader } from './header.ts'
import { isSettingName, type PromptFile, type PromptSettings, readPromptFile, type SettingName } from './read.ts'
import { type FileParts, joinFile, needsFence, PromptFileError, splitFile, withNewlines } from './text.ts'

/** The keys to change; null or undefined takes a setting back to its default by removing its key. */
export type PromptFileChange = { [K in SettingName]?: PromptSettings[K] | null | undefined } & {
  prompt?: string | undefined
}

/** The text of the file after the change. Throws `PromptFileError` when the file cannot be read or changed. */
export function editPromptFile(text: string, change: PromptFileChange): string {
  const file = readPromptFile(text)
  const wanted = applyChange(file, change)
  const parts = splitFile(text)
  const withHeader = editHeader(parts, file.settings, wanted.settings)
  const result = joinFile(wanted.prompt === file.prompt ? withHeader : editBody(withHeader, wanted.prompt))
  const written = readPromptFile(result)
  if (isDeepStrictEqual(written.settings, wanted.settings) && written.prompt === wanted.prompt) return result
  throw new PromptFileError('this change cannot be written into the file; edit the file by hand', 1)
}

type Content = Pick<PromptFile, 'settings' | 'prompt'>

function applyChange(file: PromptFile, { prompt, ...change }: PromptFileChange): Content {
  const kept = Object.entries(file.settings).filter(([key]) => !Object.hasOwn(change, key))
  const set = Object.entries(plain(change)).filter(([key, value]) => isSettingName(key) && value !== null)
  const settings: PromptSettings = Object.fromEntries([...kept, ...set])
  return { settings, prompt: prompt === undefined ? file.prompt : withNewlines(prompt) }
}

/** Without undefined and odd prototypes, so that it compares with what is read. */
function plain(change: object): object {
  return JSON.parse(JSON.stringify(change))
}

function editHeader(parts: FileParts, present: PromptSettings, wanted: PromptSettings): FileParts {
  const keys = Object.keys({ ...present, ...wanted }).filter(isSettingName)
  const changed = keys.filter((key) => !isDeepStrictEqual(present[key], wanted[key]))
  if (changed.length === 0) return parts
  const changes = changed.map((key) => ({ key, present: present[key], wanted: wanted[key] }))
  const header = changes.reduce(editKey, withNewlines(parts.header))
  return closeFence({ ...withFence(parts), header: withEnding(header, parts.eol) })
}

/** The header, in `\n`, with one key changed, added or removed. */
function editKey(header: string, change: KeyChange): string {
  const chunk = findChunk(header, change.key)
  if (!chunk) return header + newChunk(change)
  const edited = editChunk(header.slice(chunk.start, chunk.end), change, chunk.line)
  return header.slice(0, chunk.start) + edited + header.slice(chunk.end)
}

interface Chunk {
  start: number
  end: number
  line: number
}

/** The lines of one key, without comments and empty lines that follow; the whole header when it is no block map. */
function findChunk(header: string, key: SettingName): Chunk | undefined {
  const { doc, pairs, lineOf } = parseHeader(header)
  const starts = [...pairs.values()].map((pair) => offsetOf(pair.key))
  const isBlock = starts.every((start) => start === 0 || header[start - 1] === '\n')
  if (doc.contents && !isBlock) return { start: 0, end: header.length, line: lineOf(doc.contents) }
  const index = [...pairs.keys()].indexOf(key)
  const start = starts[index]
  if (start === undefined) return undefined
  const end = start + ownLength(header.slice(start, starts[index + 1]))
  return { start, end, line: lineOf(pairs.get(key)?.key) }
}

function ownLength(chunk: string): number {
  const lines = chunk.split('\n').slice(0, -1)
  const last = lines.findLastIndex((line) => !/^(?:#|\s*$)/.test(line))
  return lines.slice(0, last + 1).join('\n').length + 1
}

function withFence(parts: FileParts): FileParts {
  if (parts.open !== '') return parts
  const fence = `---${parts.eol}`
  const blank = /^\r?\n/.test(parts.body) ? parts.eol : ''
  return { ...parts, open: fence, close: fence, body: blank + parts.body }
}

function editBody(parts: FileParts, prompt: string): FileParts {
  const fenced = needsFence(prompt) ? withFence(parts) : parts
  const isSpaced = fenced.open !== '' && (/^\r?\n/.test(parts.body) || prompt.startsWith('\n'))
  return { ...closeFence(fenced), body: withEnding(`${isSpaced ? '\n' : ''}${prompt}\n`, parts.eol) }
}

/** The closing fence may be the very end of the file. */
function closeFence(parts: FileParts): FileParts {
  return parts.close === '' || parts.close.endsWith('\n') ? parts : { ...parts, close: parts.close + parts.eol }
}

function withEnding(text: string, eol: string): string {
  return text.replaceAll('\n', eol)
}
