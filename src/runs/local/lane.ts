/** Ids that wait in a line: first in, first out, and any of them may leave early. Nothing is kept of those that left. */
export interface Lane {
  readonly size: number
  add(id: number): void
  has(id: number): boolean
  remove(id: number): boolean
  /** The one that has waited longest; it leaves. */
  take(): number | undefined
}

/** A set of numbers keeps their order, in about thirty bytes for each. */
export function createLane(): Lane {
  const ids = new Set<number>()
  // One iterator that lives on: a fresh one would walk over the gaps of all that have left, every time.
  let order = ids.values()

  function next() {
    const found = order.next()
    if (!found.done) return found
    // An iterator that saw the end stays there, whatever was added since.
    order = ids.values()
    return order.next()
  }

  return {
    get size() {
      return ids.size
    },
    add: (id) => void ids.add(id),
    has: (id) => ids.has(id),
    remove: (id) => ids.delete(id),
    take() {
      const { value } = next()
      if (value !== undefined) ids.delete(value)
      return value
    },
  }
}
