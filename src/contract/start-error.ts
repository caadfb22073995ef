/** Why the service did not start, in words for the operator, with the exit code that says it to scripts. */
export class StartError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number, cause?: unknown) {
    super(message, { cause })
    this.name = 'StartError'
    this.exitCode = exitCode
  }
}
