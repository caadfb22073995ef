// The pieces of a secret: long enough that each of them would give something away.

const LENGTH = 5

export const piecesOf = (secret: string): string[] =>
  Array.from({ length: secret.length - LENGTH + 1 }, (_, at) => secret.slice(at, at + LENGTH))
