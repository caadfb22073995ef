/** The forms in which programs print a secret: itself, and as it looks in an address, in JSON and in base64. */

/** Anything shorter is too often part of other text. */
const SHORTEST = 4
const SHORTEST_ENCODED = 6
/** Lines of a key file are printed one by one, too. */
const SHORTEST_LINE = 16

export function secretForms(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line, _, all) => all.length > 1 && line.length >= SHORTEST_LINE)
  const plain = [...new Set([secret, secret.trim(), decoded(secret), ...lines])]
  const forms = plain.flatMap((text) => [text, JSON.stringify(text).slice(1, -1), ...inAddresses(text)])
  const encoded = plain.flatMap(inBase64).filter((text) => text.length >= SHORTEST_ENCODED)
  return [...forms.filter((text) => text.length >= SHORTEST), ...encoded]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function inAddresses(text: string): string[] {
  const component = encodeURIComponent(text.toWellFormed())
  const form = new URLSearchParams([['', text]]).toString().slice(1)
  return [component, form].flatMap((encoded) => [encoded, encoded.replaceAll(/%../g, (hex) => hex.toLowerCase())])
}

/** Alone, and as a part of something longer (`user:secret`), where it begins at any of three places of a group. */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text)
  const whole = bytes.toString('base64').replace(/=+$/, '')
  const parts = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Without the characters that share bits with what stands before or after.
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  const standard = [whole, ...parts]
  return [...standard, ...standard.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}
