/**
 * Whether a tool call may be made again when nobody knows if the first one happened.
 * What a tool says about itself counts only from a server that the operator trusts.
 */
import type { Tool } from '../contract/tool.ts'

export interface ServerPromises {
  /** The operator's word for every tool of the server. */
  retry?: 'safe' | 'never' | undefined
  /** The operator believes what the tools of this server say about themselves. */
  trusted?: boolean | undefined
}

export interface ToolHints {
  readOnlyHint?: unknown
  idempotentHint?: unknown
}

export function repeatPolicy({ retry, trusted }: ServerPromises, hints: ToolHints = {}): Tool['repeat'] {
  if (retry) return retry
  return trusted && (hints.readOnlyHint === true || hints.idempotentHint === true) ? 'safe' : 'never'
}
