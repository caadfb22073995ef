// What becomes of a call to each misbehaving server, as whoever reads the run or the list of servers is told.
import type { Fault } from './faults.ts'

export interface Outcome {
  /** Why it cannot be connected. It has no tools then. */
  down?: RegExp
  /** Called in place of `fault`. */
  tool?: string
  /** Of the step. */
  status: 'completed' | 'error'
  /** A text may be matched. */
  output?: unknown
  error?: RegExp
  /** How many tools it has, where that is not two. */
  tools?: number | 'growing'
  /** What its record says is wrong with it although it is up. */
  complaint?: RegExp
}

const completed = (more: Partial<Outcome> = {}): Outcome => ({ status: 'completed', output: 'fault', ...more })
export const answered = (output: unknown): Outcome => ({ status: 'completed', output })
export const failed = (error: RegExp, output: unknown = null): Outcome => ({ status: 'error', error, output })
export const down = (why: RegExp): Outcome => ({
  ...failed(/^There is no tool named 'fault'\. Tools: fine$/),
  down: why,
})

export const NO_ANSWER = /^the server did not answer within 2 s$/
const NO_MESSAGE = /^the answer is not a message of the protocol$/

export const OUTCOMES: Record<Fault, Outcome> = {
  'exits-at-start': down(/^the server exited with code 1$/),
  'exits-loudly': down(/^the server exited with code 3: .*line 100: something is wrong here$/),
  'leaks-and-exits': down(/^the server exited with code 1: /),
  'silent-at-start': down(/^the server could not be connected within 3 s$/),
  'refuses-at-start': down(/^the server answered with error -32602: not with you$/),
  'starts-late': completed(),
  stubborn: completed(),
  'grandchildren-in-group': completed(),
  'grandchild-in-session': completed(),

  'exits-in-call': failed(/^the server exited with code 1$/),
  'crashes-every-second-call': failed(/^the server exited with code 1$/),
  'hangs-in-call': failed(NO_ANSWER),
  'slow-answer': failed(NO_ANSWER),
  garbage: completed(),
  'invalid-utf8': answered('bad\ufffd\ufffd(bytes'),
  'no-json-rpc': failed(NO_MESSAGE),
  'wrong-id': failed(NO_ANSWER),
  'same-id-twice': answered('first'),
  'answers-after-cancel': failed(NO_ANSWER),
  'large-answer': answered(/^x{1000,}\n\[cut here: 9900000 characters in all\]$/),
  'too-large-answer': failed(/^the answer is larger than 10 MiB$/),
  'endless-output': failed(/^the server sent a line of more than 64 MiB$/),
  'stderr-flood': completed(),
  'closes-stdin': failed(NO_ANSWER),
  deaf: failed(NO_ANSWER),
  'error-result': failed(/^The tool answered with an error$/, 'it cannot be done'),
  'result-no-object': failed(NO_MESSAGE),
  'huge-error': failed(/^the server answered with error -32000: x{1900,2000}$/),
  'asks-the-client': answered(
    /^\[\{.*sampling.*Method not found.*roots.*Method not found.*\{"result":\{\}.*ask-ping"\}\]$/,
  ),
  'log-flood': completed(),
  'leaks-secrets': answered(/"API_TOKEN":"[^"a-z0-9]+"/),

  'hangs-in-list': down(/^the server did not answer within 3 s$/),
  'many-tools': completed({ tools: 1000, complaint: /^9000 tools were left out: there are more than 1000$/ }),
  'huge-schema': completed({ tools: 3, complaint: /^1 tool was left out: 'huge' is larger than 128 KiB$/ }),
  'schema-bombs': {
    ...answered({ text: `${'a'.repeat(60)}!` }),
    ...{ tool: 'pattern', tools: 4, complaint: /^1 tool was left out: 'deep' is nested deeper than 64 levels$/ },
  },
  'no-input-schema': completed({ complaint: /^1 tool was left out: 'bare' has no object as its input schema$/ }),
  'bad-names': completed({
    tools: 5,
    complaint: /^2 tools were left out: one has no name; 'n{64}' has a name of more/,
  }),
  'malformed-tools': completed({ complaint: /^8 tools were left out: one has no name; 'list-as-schema' has no/ }),
  'same-tool-twice': completed({ tools: 3, complaint: /^1 tool was left out: one is there twice$/ }),
  'changing-list': completed({ tools: 'growing' }),
  'changing-list-silently': completed(),
  'list-changed-flood': completed(),
  'endless-pages': completed({ tools: 65, complaint: /^the list has more than 64 pages; the rest was not read$/ }),
}
