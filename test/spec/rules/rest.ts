import type { Rules } from './rule.ts'

/** What every answer under /api/v1 looks like. */
export const restRules = {
  'rest.prefix': { from: 'spec 9', says: 'Every REST path carries its version in the prefix /api/v1.' },
  'rest.envelope': {
    from: 'spec 4.1, decisions 2',
    says: 'Every answer under /api/v1 is a JSON object with success, data and error.',
  },
  'rest.success': { from: 'spec 4.1, decisions 2', says: 'On success, success is true and error is null.' },
  'rest.failure': {
    from: 'spec 4.1, spec 7',
    says: 'On error, success is false, data is null and error has the strings code and message.',
  },
  'rest.unknown-path': {
    from: 'decisions 2',
    says: 'An unknown path under /api/v1 answers 404 NOT_FOUND in the envelope.',
  },
  'rest.wrong-method': {
    from: 'decisions 2',
    says: 'A known path with another method answers 405 METHOD_NOT_ALLOWED in the envelope.',
  },
  'rest.json-only': {
    from: 'decisions 2',
    says: 'A body that is not declared as JSON answers 415 UNSUPPORTED_MEDIA_TYPE in the envelope.',
  },
  'rest.body-limit': { from: 'decisions 2', says: 'A body over 1 MiB answers 413 PAYLOAD_TOO_LARGE in the envelope.' },
  'rest.malformed-json': { from: 'decisions 2', says: 'Malformed JSON answers 400 INVALID_REQUEST in the envelope.' },
  'rest.internal-error': {
    from: 'decisions 2',
    says: 'An unknown exception answers 500 INTERNAL_ERROR with request_id and no more; its details are in the log.',
  },
  'rest.event-streams-bare': { from: 'decisions 2', says: 'Event streams answer without the envelope.' },
  'rest.host-before-route': { from: 'decisions 2', says: 'Host and Origin are checked before the route.' },
  'rest.body-before-record': {
    from: 'decisions 2',
    says: 'After the route, 404 or 405, come media type 415, size 413, body 400 and record 404, in this order.',
  },
  'rest.credential-before-route': {
    from: 'decisions 2',
    says: 'In platform mode a missing credential answers 401 before the route is looked up, on unknown paths too.',
  },
  'rest.scope-then-rate': {
    from: 'decisions 2',
    says: 'After the route come the scope, 403, then the rate, 429, then the media type.',
  },
  'rest.unauthorized-header': { from: 'decisions 2', says: 'Every 401 has WWW-Authenticate.' },
  'rest.ids': {
    from: 'spec 2, decisions 2',
    says: 'Ids are integers, that of an agent too; those of environments are strings.',
  },
  'rest.bad-path-id': {
    from: 'decisions 2',
    says: 'A path id that is not a positive safe integer answers 400 INVALID_REQUEST.',
  },
  'rest.times': { from: 'decisions 2', says: 'Times are ISO 8601 in UTC with milliseconds.' },
  'rest.pagination': {
    from: 'spec 4.1, decisions 2',
    says: 'Every list carries pagination with the integers page, limit, total and pages.',
  },
  'rest.page': { from: 'spec 4.1, decisions 2', says: 'page starts at 1 and is 1 by default.' },
  'rest.limit': { from: 'spec 4.1, decisions 2', says: 'limit is 20 by default.' },
  'rest.limit-environments': { from: 'decisions 2', says: 'limit is 100 by default for environments.' },
  'rest.limit-tools': { from: 'decisions 2', says: 'limit is 100 by default for MCP servers and tools.' },
  'rest.limit-cap': { from: 'decisions 2', says: 'A limit above 100 is served as 100 and shown so.' },
  'rest.bad-page': { from: 'decisions 2', says: 'A page or limit that is 0, negative or not an integer answers 400.' },
  'rest.past-the-end': { from: 'decisions 2', says: 'A page past the end has empty data.' },
  'rest.pages-when-empty': { from: 'decisions 2', says: 'pages is 0 when the list is empty.' },
  'rest.link': { from: 'decisions 2', says: 'Every list has a Link header.' },
  'rest.unknown-query': { from: 'decisions 2', says: 'Unknown query parameters are ignored.' },
  'rest.request-id-returned': { from: 'decisions 2', says: 'Every answer has X-Request-Id.' },
  'rest.request-id-accepted': {
    from: 'decisions 2',
    says: 'An X-Request-Id of at most 128 safe characters is taken over, any other is not.',
  },
  'rest.no-store': { from: 'decisions 2', says: 'Every answer has Cache-Control: no-store.' },
  'rest.unknown-field': { from: 'decisions 2', says: 'A body field that is not known answers 400 and is named.' },
  'rest.get-edit-put': { from: 'decisions 2', says: 'Read-only fields of a record sent back in a PUT are ignored.' },
  'rest.error-details': {
    from: 'decisions 2',
    says: 'An error about a body has details, each with path as a JSON Pointer and message.',
  },
  'rest.error-request-id': {
    from: 'decisions 2',
    says: 'request_id of an error equals the X-Request-Id of the answer.',
  },
  'errors.closed': {
    from: 'decisions 2',
    says: 'The codes of REST errors are a closed list, each with one status; no answer carries another.',
  },
  'errors.request': {
    from: 'decisions 2',
    says: 'INVALID_REQUEST is 400, METHOD_NOT_ALLOWED 405, PAYLOAD_TOO_LARGE 413, UNSUPPORTED_MEDIA_TYPE 415.',
  },
  'errors.refused': { from: 'decisions 2', says: 'UNAUTHORIZED is 401, FORBIDDEN and INSUFFICIENT_SCOPE are 403.' },
  'errors.not-found': {
    from: 'decisions 2',
    says: 'NOT_FOUND and AGENT_, RUN_, ENVIRONMENT_, KEY_ and TOOL_NOT_FOUND are 404.',
  },
  'errors.conflict': {
    from: 'decisions 2',
    says: 'AGENT_EXISTS, RUN_ALREADY_FINISHED and CONFLICT are 409, IDEMPOTENCY_KEY_REUSED is 422.',
  },
  'errors.limited': { from: 'decisions 2', says: 'RATE_LIMITED and QUEUE_FULL are 429.' },
  'errors.server': {
    from: 'decisions 2',
    says: 'INTERNAL_ERROR is 500, STORAGE_UNAVAILABLE and AUTH_UNAVAILABLE are 503.',
  },
} as const satisfies Rules
