/**
 * A tool call was about to be made when its process went away, and nobody knows whether it was.
 * It is made again only when the operator has said that this does no harm; otherwise the model is told.
 */
import type { Tool } from '../../contract/tool.ts'
import type { StepOutcome } from './journal.ts'

export const mayRepeat = (tool: Tool | undefined): tool is Tool => tool?.repeat === 'safe'

export const OUTCOME_UNKNOWN: StepOutcome = {
  status: 'unknown',
  output: null,
  error:
    'The outcome of this call is not known: the service was interrupted while it was being made. ' +
    'It may or may not have happened. Find out before you do it again.',
}
