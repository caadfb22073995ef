// What becomes of a call to each misbehaving HTTP server, as whoever reads the run or the list of servers is told.
import type { HttpFault } from './http-faults.ts'
import { answered, down, failed, NO_ANSWER, type Outcome } from './outcomes.ts'

/** The fault is in every request. */
export const ALWAYS: Partial<Record<HttpFault, Outcome>> = {
  unauthorized: down(/^the server wants authentication \(401\): give it a header/),
  forbidden: down(/^the server denies access \(403\): check the headers/),
  'not-found': down(/^there is no MCP server at this address \(404\): check its url/),
  broken: down(/^the server fails with status 500$/),
  unavailable: down(/^the server fails with status 503$/),
  'never-answers': down(/^the server could not be connected within 3 s$/),
  'slow-headers': down(/^the server could not be connected within 3 s$/),
  'sse-only': down(/^there is no MCP server at this address \(405\): .* not the older HTTP\+SSE$/),
  redirects: down(/^Redirect/),
  html: down(/text\/html/),
  'wrong-type': down(/application\/x-unheard-of/),
  'loses-sessions': answered('fault'),
  'header-mismatch': failed(/^the server answered with error -32020: Bad Request/),
}

/** The fault is in calls alone. */
export const IN_CALLS: Partial<Record<HttpFault, Outcome>> = {
  unauthorized: failed(/^the server wants authentication \(401\)/),
  forbidden: failed(/^the server denies access \(403\)/),
  'not-found': failed(/^there is no MCP server at this address \(404\)/),
  broken: failed(/^the server fails with status 500$/),
  unavailable: failed(/^the server fails with status 503$/),
  'never-answers': failed(NO_ANSWER),
  'slow-headers': failed(NO_ANSWER),
  'sse-only': failed(/^there is no MCP server at this address \(405\)/),
  redirects: failed(/^Redirect/),
  html: failed(/text\/html/),
  'wrong-type': failed(/application\/x-unheard-of/),
  'cut-stream': failed(/^the server ended the stream without an answer$/),
  'huge-body': failed(/^the answer is larger than 10 MiB$/),
  'huge-event': failed(/^the answer is larger than 10 MiB$/),
}
