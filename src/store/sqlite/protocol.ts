/** What travels between the service and the writer thread. */
import type { ErrorCode } from '../../contract/errors.ts'

export interface WriteRequest {
  id: number
  name: string
  input: unknown
}

export type WriteReply =
  | { id: number; ok: true; value: unknown }
  | { id: number; ok: false; code: ErrorCode; message: string; cause?: string }

export type ToThread = { kind: 'writes'; writes: WriteRequest[] } | { kind: 'close' }
