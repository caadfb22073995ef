// Random numbers that can be had again: the seed of a failing test is in its message.
export interface Dice {
  readonly seed: number
  /** A whole number from 1 up to and including `sides`. */
  roll(sides: number): number
}

/** mulberry32; SEED in the environment repeats an earlier run. */
export function dice(seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))): Dice {
  let state = seed
  const roll = (sides: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return 1 + (((mixed ^ (mixed >>> 14)) >>> 0) % sides)
  }
  return { seed, roll }
}
