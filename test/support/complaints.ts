// A start says two things on stderr, where its home is and that no model is configured; whatever else is left over here.
const USUAL = /^\{"level":"info",[^\n]*"msg":"(started|no model is configured: the offline model answers every run)"\}$/

export const complaints = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line !== '' && !USUAL.test(line))
