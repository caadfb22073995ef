/** What may go wrong with an attempt that the provider itself did not call an error. */

export interface TroubleOptions {
  /** Another attempt may go better. */
  again: boolean
  /** What the person who runs the service can do about it. */
  advice?: string
  /** The provider's own words. */
  detail?: string
}

/** Its message continues the sentence that begins with the provider: "did not answer within 120 s". */
export class Trouble extends Error {
  readonly again: boolean
  readonly advice: string | undefined
  readonly detail: string | undefined

  constructor(what: string, { again, advice, detail }: TroubleOptions) {
    super(what)
    this.name = 'Trouble'
    this.again = again
    this.advice = advice
    this.detail = detail
  }
}
