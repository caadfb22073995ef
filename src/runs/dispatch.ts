/**
 * Which process executes a run next, and when. The row is the truth: everything told to a dispatcher is a hint that
 * may be lost, and costs time only.
 */
export interface Dispatcher {
  /** Takes up what earlier processes left, and begins to execute. */
  start(): Promise<void>
  /** Holds a place in the queue until the run is stored, or not; undefined when there is none. */
  reserve(): Place | undefined
  /** Its cancel is committed: whoever executes the run aborts, and one that waits ends now. */
  cancel(runId: number): void
  /**
   * Starts no more; what executes may finish its current step within this time and is then let go of as it is.
   * Resolves when nothing executes any more.
   */
  stop(withinMs: number): Promise<void>
}

interface Place {
  /** The run is on disk: execute it when there is room. */
  fill(run: { id: number; agent_id: number; max_concurrency: number | null }): void
  /** Nothing was stored. */
  give_back(): void
}

/** What a run in execution sees of its dispatcher. */
export interface Control {
  /** Aborts with a RunAborted. */
  readonly signal: AbortSignal
  /** The service is stopping: begin no further step. */
  stopping(): boolean
  /** Right after the claim: what the agent allows at once today. Until it is known, one run of the agent executes. */
  learnLimit(max: number | null): void
  /** The agent holds more than its share of the slots while another one could start a run. */
  isOverShare(): boolean
  /**
   * Between two steps: lets others go first when its agent is over its share, and resolves with a slot in hand.
   * Rejects with the RunAborted when the run is to end instead.
   */
  yieldSlot(): Promise<void>
  /**
   * Gives the slot back while the work waits for another run; what comes of the work is passed on with a slot in hand.
   * Not when the run is to end (the work failed, the signal is aborted, the service stops): then at once. Of several at
   * a time the last one brings the slot back.
   */
  withoutSlot<Value>(work: () => Promise<Value>): Promise<Value>
}

/** Executes a run to its end, or to the point where its control asks it to let go. */
export type Execute = (runId: number, control: Control) => Promise<void>

/** Why an execution is broken off from outside. */
export class RunAborted extends Error {
  readonly reason: 'cancelled' | 'timeout' | 'stopped' | 'superseded'

  constructor(reason: RunAborted['reason']) {
    super(`the run was ${reason}`)
    this.name = 'RunAborted'
    this.reason = reason
  }
}
