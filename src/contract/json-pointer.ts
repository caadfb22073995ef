/** A place inside a JSON value (RFC 6901). Names that callers made up are cut, so that an error stays readable. */
const LONGEST_NAME = 64

export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).slice(0, LONGEST_NAME).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
