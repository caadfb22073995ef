/** "Did you mean …?": the nearest known name, or nothing when none is near. */
import leven from 'leven'

export function nearest(name: string, known: Iterable<string>): string | undefined {
  const candidates = [...known]
  const longer = candidates.find((candidate) => candidate.endsWith(`.${name}`))
  return longer ?? closest(name, candidates)
}

export function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`
}

function closest(name: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(name.length * 0.4))
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: leven(name, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate
}
