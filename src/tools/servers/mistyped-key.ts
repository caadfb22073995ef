/** Other MCP clients keep keys of their own in an entry, so only one that looks like one of ours is a mistake. */
import leven from 'leven'

export function mistypedKey(entry: unknown, known: readonly string[]): { key: string; meant: string } | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined
  for (const key of Object.keys(entry)) {
    if (known.includes(key)) continue
    const meant = known.find((candidate) => isMistyped(key, candidate))
    if (meant) return { key, meant }
  }
  return undefined
}

/** In a short key two letters are half of it (`tags`, `args`), unless they only changed places. */
function isMistyped(key: string, known: string): boolean {
  const plain = key.toLowerCase()
  if (Math.abs(plain.length - known.length) > 2) return false
  const distance = leven(plain, known)
  return distance <= (known.length > 4 ? 2 : 1) || (distance === 2 && letters(plain) === letters(known))
}

const letters = (word: string) => [...word].sort().join('')
