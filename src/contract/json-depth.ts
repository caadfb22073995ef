/** How deep JSON may be nested anywhere in the service: parsers on the way, ours and others', are recursive. */
export const MAX_JSON_DEPTH = 64

/** Without recursion, because what is asked about may be deeper than any stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}
