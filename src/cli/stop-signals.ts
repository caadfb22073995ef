/** SIGTERM and SIGINT: the first one asks to stop, an impatient later one ends the process at once. */
const EXIT_AT_ONCE = { SIGINT: 130, SIGTERM: 143 } as const
// Under npm, one Ctrl-C arrives twice: from the terminal and passed on.
const ECHO_MS = 500

type StopSignal = keyof typeof EXIT_AT_ONCE

interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown
}

interface StopSignalOptions {
  readonly source: SignalSource
  readonly exit: (code: number) => void
  readonly now?: () => number
}

/** Settles at the first signal. */
export function firstStopSignal({ source, exit, now = () => performance.now() }: StopSignalOptions): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let firstAt: number | undefined
  const onSignal = (signal: StopSignal) => {
    if (firstAt === undefined) {
      firstAt = now()
      resolve()
    } else if (now() - firstAt > ECHO_MS) exit(EXIT_AT_ONCE[signal])
  }
  source.on('SIGINT', () => onSignal('SIGINT'))
  source.on('SIGTERM', () => onSignal('SIGTERM'))
  return promise
}
