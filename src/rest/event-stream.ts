/**
 * A run as server-sent events. Nothing is read from the database before the reader has taken what was sent, so a
 * slow reader costs one batch of memory; one that goes away ends the watching at once.
 */
import type { Runs } from '../runs/runs.ts'
import type { RunChanges } from '../store/runs/reads.ts'
import type { Log } from '../telemetry/log.ts'

interface Watched {
  id: number
  /** The place in the journal after which the reader wants to know. */
  after: number
  /** Aborts when the client has gone. */
  signal: AbortSignal
}

interface Begun {
  rounds: AsyncGenerator<RunChanges>
  first: RunChanges
  after: number
}

const SIGN_OF_LIFE = ': still running\n\n'

/** Rejects as the first read does, so that an unknown run is still an ordinary refusal. */
export async function openEventStream(runs: Runs, watched: Watched, log: Log): Promise<ReadableStream<Uint8Array>> {
  const stop = new AbortController()
  const signal = AbortSignal.any([watched.signal, stop.signal])
  const events = eventsOf(await begin(runs, { ...watched, signal }))
  const encoder = new TextEncoder()
  let cancelled = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // No envelope fits behind the first byte: the reader sees the end, and comes back with its Last-Event-ID.
        const next = await events.next().catch((error) => {
          log.warn({ err: error, run_id: watched.id }, 'a stream of events broke off')
          return OVER
        })
        if (cancelled) return
        if (next.done) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
      async cancel() {
        cancelled = true
        stop.abort()
        await events.return()
      },
    },
    { highWaterMark: 0 },
  )
}

const OVER = { done: true, value: undefined } as const

async function begin(runs: Runs, { id, after, signal }: Watched): Promise<Begun> {
  const rounds = runs.watch(id, after, signal)
  const { value: first }: { value: RunChanges } = await rounds.next()
  if (first.seq >= after) return { rounds, first, after }
  // This journal never reached that place: it was given by another one, and the reader gets everything.
  await rounds.return(undefined)
  return begin(runs, { id, after: 0, signal })
}

async function* eventsOf({ rounds, first, after }: Begun): AsyncGenerator<string, void, void> {
  try {
    // Its id is where the reader was already: whoever is cut off behind this event must not miss the steps.
    yield event('run', after, first.run)
    yield* stepsAndEnd(first)
    let { seq } = first
    for await (const round of rounds) {
      yield* stepsAndEnd(round)
      if (round.run.status === 'running') yield round.seq === seq ? SIGN_OF_LIFE : event('run', round.seq, round.run)
      seq = round.seq
    }
  } finally {
    await rounds.return(undefined)
  }
}

function* stepsAndEnd({ run, seq, steps }: RunChanges): Generator<string> {
  for (const { seq: place, step } of steps) yield event('step', place, step)
  if (run.status !== 'running') yield event('end', seq, run)
}

/** JSON text has no line breaks, so each record is one line of data. */
const event = (name: string, id: number, record: object): string =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(record)}\n\n`
