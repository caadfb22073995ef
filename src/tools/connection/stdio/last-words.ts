/** What a process said last on stderr: often the only hint why it ended. The rest is read and thrown away. */
import type { Readable } from 'node:stream'

const KEPT_BYTES = 4_096
const SHOWN_CHARACTERS = 500
const STACK = /^\s+at |^node:internal|^Node\.js v\d|^\s*(?:\^+|throw \w+;?|\}|code: '\w+',|requireStack: \[\])\s*$/

/** Returns a function that tells its last words as one line, without secrets: they go before anything is cut off. */
export function keepLastWords(stderr: Readable, mask: (text: string) => string): () => string {
  let kept = Buffer.alloc(0)
  let isWhole = true
  stderr.on('data', (chunk: Buffer) => {
    isWhole &&= kept.length + chunk.length <= KEPT_BYTES
    kept = Buffer.concat([kept, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES)
  })
  return () => {
    const text = kept.toString('utf8')
    return maskedLine(withoutStack(isWhole ? text : wholeLines(text)), mask).slice(-SHOWN_CHARACTERS)
  }
}

/** What was cut off of the first line may have been the beginning of a secret, whose end would not look like one. */
const wholeLines = (text: string) => (text.includes('\n') ? text.slice(text.indexOf('\n') + 1) : '')

/** Where in its own code a program broke helps nobody here, and would push out what it broke of. */
const withoutStack = (text: string) =>
  text
    .split('\n')
    .filter((line) => !STACK.test(line))
    .join('\n')

/** Masked before, because a line break may be part of a secret, and after, because a colour may stand in the middle of one. */
export const maskedLine = (text: string, mask: (text: string) => string) => mask(oneLine(mask(text)))

/** Terminal colours, control characters and line breaks would garble a log or a page. */
export const oneLine = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
