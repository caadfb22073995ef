// Works through a list, a few items at a time.
export async function inLanes<Item>(lanes: number, items: Iterable<Item>, work: (item: Item) => Promise<void>) {
  // One iterator for all: each lane takes what comes next.
  const rest = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
