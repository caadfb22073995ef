// Every way in which a tool server over stdio can go wrong that we have thought of, and how to start one that does.
import { fileURLToPath } from 'node:url'

/** Each server has the tools `ok`, which always works, and `fault`, and is normal in everything but this. */
export const FAULTS = {
  'exits-at-start': 'ends with code 1 before it reads anything',
  'exits-loudly': 'ends with code 3 after 100 lines on stderr',
  'leaks-and-exits': 'ends with code 1 after its environment and its arguments on stderr',
  'silent-at-start': 'reads, and never answers initialize',
  'refuses-at-start': 'answers initialize with an error',
  'starts-late': 'reads nothing for --seconds',
  stubborn: 'goes on after SIGTERM and after the end of its input',
  'grandchildren-in-group': 'starts two processes that ignore SIGTERM, hold its pipes, and stay when it ends',
  'grandchild-in-session': 'starts such a process in a session of its own',

  'exits-in-call': 'ends with code 1 in the middle of a call',
  'crashes-every-second-call': 'ends with code 1 in every second call, of whatever tool',
  'hangs-in-call': 'never answers a call of fault',
  'slow-answer': 'answers fault at one byte a second',
  garbage: 'has rubbish and half messages between its answers, and answers in two pieces',
  'invalid-utf8': 'has bytes in the answer of fault that are no UTF-8',
  'no-json-rpc': 'answers fault with JSON that is no JSON-RPC',
  'wrong-id': 'answers fault under an id that nobody asked with',
  'same-id-twice': 'answers fault twice, with different words',
  'answers-after-cancel': 'answers fault once the call is cancelled, not before',
  'large-answer': 'answers fault with 9.9 MB',
  'too-large-answer': 'answers fault with 11 MB',
  'endless-output': 'answers fault with a line that never ends',
  'stderr-flood': 'writes 100 MB to stderr before it answers fault',
  'closes-stdin': 'closes its input when fault is called, and lives on',
  deaf: 'stops reading its input when fault is called, and lives on',
  'error-result': 'answers fault with isError',
  'result-no-object': 'answers fault with a text as result',
  'huge-error': 'answers fault with an error of the protocol whose message has 1 MB',
  'asks-the-client': 'sends sampling, roots and ping to the client, and answers fault with the replies',
  'log-flood': 'sends 10,000 log messages before it answers fault',
  'leaks-secrets':
    'shows its environment and its arguments in descriptions, and in the answer of fault as result, error, protocol-error or stderr (argument where)',

  'hangs-in-list': 'never answers tools/list',
  'many-tools': 'lists 10,000 tools',
  'huge-schema': 'lists a tool with a schema of 5 MB',
  'schema-bombs': 'lists schemas with a cycle, 10,000 levels, and a pattern that takes for ever',
  'no-input-schema': 'lists a tool without inputSchema',
  'bad-names': 'lists tools with names that are empty, 300 characters long, or no names',
  'malformed-tools': 'lists things that are no tools',
  'same-tool-twice': 'lists a tool twice, with different descriptions',
  'changing-list': 'has one tool more after each call, and says so',
  'changing-list-silently': 'has one tool more after each call, and does not say so',
  'list-changed-flood': 'says 1,000 times a second that its tools have changed',
  'endless-pages': 'lists page after page after page',
} as const

export type Fault = keyof typeof FAULTS

export interface MisbehavingOptions {
  /** A file that gets the pid of the server and of whatever it starts, one to a line. */
  pids?: string
  /** How late starts-late starts. */
  seconds?: number
}

/** What a server file wants to know. */
export const misbehaving = (fault: Fault, { pids, seconds }: MisbehavingOptions = {}) => ({
  command: process.execPath,
  args: [
    fileURLToPath(new URL('server.ts', import.meta.url)),
    fault,
    ...(pids === undefined ? [] : ['--pids', pids]),
    ...(seconds === undefined ? [] : ['--seconds', String(seconds)]),
  ],
})
