/** What travels between the service and its threads: the writer, and the one that searches. */
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

export interface SearchQuery {
  sql: string
  parameters: readonly unknown[]
}

export type ToSearchThread = ({ kind: 'search' } & SearchQuery) | { kind: 'close' }

export type SearchAnswer = { ok: true; rows: unknown[] } | { ok: false; is_storage: boolean; cause: string }
