// What a service said on stderr beyond telling what it does: warnings, errors, and whatever is no log line.
export const complaints = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line !== '' && !/^\{"level":"(info|debug|trace)"/.test(line))
