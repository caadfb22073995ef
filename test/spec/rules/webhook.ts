import type { Rules } from './rule.ts'

/** POST /execute on the dynamic-agent port. */
export const webhookRules = {
  'webhook.accepted': {
    from: 'spec 4.3, spec 6.1',
    says: 'Each accepted POST /execute starts one run and answers 202 with its run_id.',
  },
  'webhook.answer': {
    from: 'spec 4.3',
    says: 'The 202 has run_id, agent_id, agent_name, status running and message, without an envelope.',
  },
  'webhook.asynchronous': {
    from: 'spec 3, spec 4.3',
    says: 'The answer comes at once, the agent executes in the background, GET /api/v1/runs/:id tells the status.',
  },
  'webhook.accepted-after-commit': { from: 'decisions 3', says: 'The 202 comes only after the run is on disk.' },
  'webhook.row-is-truth': { from: 'decisions 3', says: 'A run whose wake-up was lost is executed all the same.' },
  'webhook.by-name': { from: 'spec 4.3, decisions 3', says: 'agent_name is matched exactly and case-sensitively.' },
  'webhook.by-id': { from: 'spec 4.3, decisions 3', says: 'agent_id is an integer or a decimal string.' },
  'webhook.environment-name': { from: 'decisions 3', says: 'agent_name may be written environment/name.' },
  'webhook.bare-name': {
    from: 'decisions 3',
    says: 'A bare name is looked up in default first, then anywhere if unique.',
  },
  'webhook.ambiguous-name': { from: 'decisions 3', says: 'An ambiguous name answers 400 and lists the candidates.' },
  'webhook.agent-not-found': {
    from: 'spec 4.3, spec 7',
    says: 'An unknown name or id answers 404 with the error `agent not found`.',
  },
  'webhook.disabled-agent': {
    from: 'spec 3, decisions 3',
    says: 'A disabled agent answers 404 `agent not found` and the message says that it is disabled.',
  },
  'webhook.error-shape': {
    from: 'spec 4.3, spec 7',
    says: 'Every error is {error, message}, error a short lower-case phrase.',
  },
  'webhook.no-agent': {
    from: 'decisions 3',
    says: 'Neither agent_name nor agent_id answers 400; an empty string, 0 and null count as absent.',
  },
  'webhook.task-required': { from: 'spec 4.3, decisions 3', says: 'No task answers 400.' },
  'webhook.variables': {
    from: 'spec 4.3, decisions 3',
    says: 'A field of a wrong type answers 400, and so do variables that are not an object of strings.',
  },
  'webhook.two-agents': {
    from: 'decisions 3',
    says: 'agent_name and agent_id that are not the same agent answer 400; an unknown agent_id 404.',
  },
  'webhook.unknown-fields': { from: 'decisions 3', says: 'Unknown fields are ignored.' },
  'webhook.disabled': {
    from: 'spec 4.3, spec 4.5, decisions 3',
    says: 'With webhook.enabled false /execute answers 404, before any other check.',
  },
  'webhook.method': { from: 'decisions 3', says: 'Another method than POST answers 405 `method not allowed`.' },
  'webhook.auth-before-body': {
    from: 'decisions 3',
    says: 'Host, Origin and authentication are checked before media type, size and fields.',
  },
  'webhook.media-type-and-size': {
    from: 'spec 4.3, decisions 3',
    says: 'Another media type than JSON answers 415, then a body too large 413, then wrong fields 400.',
  },
  'webhook.fields-before-agent': {
    from: 'decisions 3',
    says: 'The fields, 400, are checked before the agent, 404, and the agent before the queue, 429.',
  },
  'webhook.storage-down': { from: 'decisions 3', says: 'A run that cannot be stored answers 503.' },
  'webhook.extensions-listed': {
    from: 'decisions 3',
    says: 'The docs list the statuses beyond 400, 401 and 404 as an extension.',
  },
  'webhook.source': { from: 'spec 3, decisions 3', says: 'Source information is kept with the run and logged.' },
  'webhook.source-not-settable': {
    from: 'decisions 3',
    says: 'A caller cannot set source information through variables.',
  },
  'webhook.local-open': {
    from: 'spec 5.4, decisions 3',
    says: 'In local mode without a webhook key /execute wants no authentication.',
  },
  'webhook.key': {
    from: 'spec 5.4, decisions 3',
    says: 'With a webhook key set, exactly that key as Bearer is accepted.',
  },
  'webhook.key-wrong': { from: 'spec 5.4, spec 7', says: 'A missing or other webhook key answers 401.' },
  'webhook.key-every-mode': {
    from: 'decisions 3',
    says: 'With a webhook key set, nothing but that key is accepted in platform mode either.',
  },
  'webhook.oauth': {
    from: 'spec 5.4, decisions 3',
    says: 'Without a key and with OAuth on, a platform token with mcp:execute is accepted.',
  },
  'webhook.oauth-scope': { from: 'decisions 3', says: 'A platform token without mcp:execute answers 403.' },
  'webhook.oauth-challenge': {
    from: 'decisions 3',
    says: 'With OAuth on, the 401 carries the oauth object as on MCP.',
  },
  'webhook.api-key': {
    from: 'decisions 3',
    says: 'In platform mode with neither key nor OAuth, an API key with execute is accepted.',
  },
  'idempotency.replay': {
    from: 'decisions 3',
    says: 'The same Idempotency-Key and body (as parsed JSON) give the first answer, with Idempotency-Replayed: true.',
  },
  'idempotency.reused': { from: 'decisions 3', says: 'The same Idempotency-Key with another body answers 422.' },
  'idempotency.kept': {
    from: 'decisions 3',
    says: 'An Idempotency-Key has at most 255 characters and is kept for 24 hours.',
  },
  'idempotency.by-principal-and-route': {
    from: 'decisions 3',
    says: 'The same Idempotency-Key of another principal or route is another key.',
  },
  'idempotency.only-successes': { from: 'decisions 3', says: 'A failed request does not use up its Idempotency-Key.' },
} as const satisfies Rules
