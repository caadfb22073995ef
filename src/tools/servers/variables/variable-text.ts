/** Text of a server file with variables in it: `${NAME}`, `${NAME:-default}`, and `$${` for a literal `${`. */

/** Literal text as it is written, or a variable. */
export type Piece = { readonly literal: string } | { readonly variable: string; readonly fallback: string | undefined }
export type VariableText = readonly Piece[]

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The last alternative is an opening that leads to nothing. */
const OPENING = /\$\$\{|\$\{(?<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^}]*))?\}|\$\{/g

/** Undefined when there is a `${` that begins no variable. */
export function parseVariableText(text: string): VariableText | undefined {
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(OPENING)) {
    if (match[0] === '$${') continue
    const name = match.groups?.name
    if (name === undefined) return undefined
    pieces.push({ literal: text.slice(end, match.index) }, { variable: name, fallback: match.groups?.fallback })
    end = match.index + match[0].length
  }
  return [...pieces, { literal: text.slice(end) }]
}

/** `fill` gets each variable in turn; a default is taken as it is, without looking for variables in it. */
export function expand(text: VariableText, fill: (name: string, fallback: string | undefined) => string): string {
  const values = text.map((piece) =>
    'literal' in piece ? piece.literal.replaceAll('$${', '${') : fill(piece.variable, piece.fallback),
  )
  return values.join('')
}
