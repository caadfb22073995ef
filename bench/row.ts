/** One figure of the benchmark, and the bar it has to reach. */
export interface Row {
  name: string
  value: number
  bar: number | null
  ok: boolean
  note: string
}

export const atMost = (name: string, value: number, bar: number, note: string): Row => ({
  ...{ name, value, bar, note },
  ok: value <= bar,
})
export const atLeast = (name: string, value: number, bar: number, note: string): Row => ({
  ...{ name, value, bar, note },
  ok: value >= bar,
})
export const info = (name: string, value: number, note: string): Row => ({ name, value, bar: null, ok: true, note })

export function line({ name, value, bar, ok, note }: Row): string {
  const limit = bar === null ? '' : `bar ${short(bar)}`
  return `${ok ? '✓' : '✗'} ${name.padEnd(44)} ${short(value).padStart(8)}  ${limit.padEnd(10)} ${note}\n`
}

const short = (value: number) => (Number.isInteger(value) || value >= 100 ? value.toFixed(0) : value.toFixed(2))
