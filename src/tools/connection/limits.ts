/** How much a server may send. What is larger is refused, and the connection lives on. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
/** A line that still has no end after this many bytes never will: the connection is closed. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024
/** What may wait for a server that does not read its input. */
export const MAX_WAITING_BYTES = 32 * 1024 * 1024
