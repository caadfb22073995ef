/** A server's target for people: as its file has it, variables by name, and •••• for what looks like a secret. */
import { MASK } from '../../../config/mask.ts'
import type { ShownTarget } from '../../../contract/mcp-server.ts'
import type { Entry } from '../entry.ts'
import type { Piece, VariableText } from '../variables/variable-text.ts'
import { argumentSpans, looksSecret, type Span, secretSpans } from './secret-places.ts'

/** A character that no rule takes for a part of a name: where a variable stands while secrets are looked for. */
const STAND_IN = '\uE000'

export function shownTarget({ target }: Pick<Entry, 'target'>): ShownTarget {
  if (target.kind === 'http') return { url: shownText(target.url, secretSpans(skeleton(target.url))) }
  const texts = [target.command, ...target.args]
  const spans = argumentSpans(texts.map(skeleton))
  const [command = '', ...args] = texts.map((text, index) => shownText(text, spans[index] ?? []))
  return { command, args }
}

const skeleton = (text: VariableText) => text.map((piece) => ('literal' in piece ? piece.literal : STAND_IN)).join('')

function shownText(text: VariableText, spans: readonly Span[]): string {
  let start = 0
  const shown = text.map((piece) => {
    const part = 'literal' in piece ? maskSpans(piece.literal, spans, start) : shownVariable(piece, spans, start)
    start += 'literal' in piece ? piece.literal.length : STAND_IN.length
    return part
  })
  return shown.join('')
}

/** The name of a variable tells nobody its value; a default is as literal as any other text. */
function shownVariable(piece: Exclude<Piece, { literal: string }>, spans: readonly Span[], at: number): string {
  const { variable, fallback } = piece
  if (fallback === undefined) return `\${${variable}}`
  const isSecret = looksSecret(variable) || spans.some(({ start, end }) => start <= at && at < end)
  return `\${${variable}:-${fallback && isSecret ? MASK : maskPlaces(fallback)}}`
}

/** A text without variables, with what looks secret in it masked. */
export const maskPlaces = (text: string): string => maskSpans(text, secretSpans(text), 0)

/** `offset` is where the text begins in what the spans count from. */
function maskSpans(text: string, spans: readonly Span[], offset: number): string {
  let shown = ''
  let copied = 0
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    const from = Math.max(start - offset, 0)
    const to = Math.min(end - offset, text.length)
    if (to <= from || to <= copied) continue
    // What overlaps the span before is masked already.
    shown += from < copied ? '' : text.slice(copied, from) + hidden(text.slice(from, to))
    copied = to
  }
  return shown + text.slice(copied)
}

/** The colon of `${USER}:${PASSWORD}@` is nobody's secret. */
const hidden = (text: string) => (text === ':' ? text : MASK)
