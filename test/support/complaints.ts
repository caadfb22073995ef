// A start says one thing on stderr, where its home is; whatever else it says is left over here.
export const complaints = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line !== '' && !/^\{"level":"info",[^\n]*"msg":"started"\}$/.test(line))
