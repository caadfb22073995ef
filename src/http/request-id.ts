/** Every request has an id: the caller's, when it is harmless to log and to send back, else a new one. */
import { randomUUID } from 'node:crypto'

const SAFE = /^[A-Za-z0-9._:-]{1,128}$/

export const requestId = (sent: string | undefined): string => (sent && SAFE.test(sent) ? sent : randomUUID())
