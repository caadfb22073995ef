/** Cuts a stream of bytes into lines, and holds no more of it than a message may have, however long a line gets. */
import { MAX_LINE_BYTES, MAX_MESSAGE_BYTES } from '../limits.ts'

export interface LineHandlers {
  /** A line that may be a JSON object. */
  onLine(line: string): void
  /** One that cannot be. */
  onUseless(): void
  /** Its beginning and its end; the rest was thrown away while it came in. */
  onTooLong(edges: { head: string; tail: string }): void
  /** It will not end. Nothing is read after that. */
  onEndless(): void
}

/** Enough to find the id of a message, which stands first or last in it. */
const EDGE_BYTES = 512
const USUAL_BYTES = 64 * 1024
const NEWLINE = 10
const BLANK = 32
const BRACE = 123

/** The function it returns pauses after each line. */
export function createLineSplitter(handlers: LineHandlers): (chunk: Buffer) => Iterator<void> {
  const { onLine, onUseless, onTooLong, onEndless } = handlers
  let held: Buffer = Buffer.allocUnsafe(USUAL_BYTES)
  /** Bytes of the line so far; of those beyond a message only the last few are held, behind its full length. */
  let length = 0
  let isEndless = false

  function add(part: Buffer): void {
    const room = Math.max(0, MAX_MESSAGE_BYTES - length)
    held = withRoom(held, Math.min(length + part.length, MAX_MESSAGE_BYTES))
    part.copy(held, Math.min(length, MAX_MESSAGE_BYTES), 0, room)
    if (part.length > room) keepTail(held, part)
    length += part.length
  }
  function finish(): void {
    const line = held
    const bytes = length
    length = 0
    if (held.length > USUAL_BYTES) held = Buffer.allocUnsafe(USUAL_BYTES)
    if (!mayBeObject(line, bytes)) onUseless()
    else if (bytes <= MAX_MESSAGE_BYTES) onLine(line.toString('utf8', 0, bytes))
    else
      onTooLong({
        head: line.toString('utf8', 0, EDGE_BYTES),
        tail: line.toString('utf8', MAX_MESSAGE_BYTES - EDGE_BYTES),
      })
  }
  return function* (chunk) {
    let from = 0
    while (!isEndless) {
      const end = chunk.indexOf(NEWLINE, from)
      add(chunk.subarray(from, end < 0 ? undefined : end))
      if (end < 0) break
      finish()
      from = end + 1
      yield
    }
    if (isEndless || length <= MAX_LINE_BYTES) return
    isEndless = true
    held = Buffer.alloc(0)
    onEndless()
  }
}

/** Told from its first characters: most nonsense is not worth making a text of it. */
function mayBeObject(line: Buffer, bytes: number): boolean {
  let at = 0
  while (at < bytes && (line[at] as number) <= BLANK) at++
  return line[at] === BRACE && at < bytes
}

/** Doubling keeps the copying small, whether a line comes in large pieces or byte by byte. */
function withRoom(held: Buffer, bytes: number): Buffer {
  if (bytes <= held.length) return held
  const larger = Buffer.allocUnsafe(Math.min(Math.max(bytes, held.length * 2), MAX_MESSAGE_BYTES))
  held.copy(larger)
  return larger
}

/** The end of a message too long to be kept is written over its last bytes. */
function keepTail(held: Buffer, part: Buffer): void {
  const end = MAX_MESSAGE_BYTES
  const shift = Math.min(part.length, EDGE_BYTES)
  held.copyWithin(end - EDGE_BYTES, end - EDGE_BYTES + shift, end)
  part.copy(held, end - shift, part.length - shift)
}
