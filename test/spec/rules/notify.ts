import type { Rules } from './rule.ts'

/** The notify tool and the events that go out. */
export const notifyRules = {
  'notify.offered': {
    from: 'spec 6.2',
    says: 'notify is offered only to an agent with notify: true and with notify.webhook_url configured.',
  },
  'notify.beside-tools': { from: 'decisions 8', says: 'notify is offered independently of tools and owns its name.' },
  'notify.parameters': {
    from: 'spec 6.2',
    says: 'notify takes message (required), title, priority (min, low, default, high, urgent) and tags.',
  },
  'notify.post': { from: 'spec 1.5, spec 6.2', says: 'A notification is an HTTP POST to notify.webhook_url.' },
  'notify.bearer': { from: 'spec 6.2', says: 'With notify.api_key the request carries it as Bearer.' },
  'notify.timeout': {
    from: 'spec 6.2, spec 8, decisions 8',
    says: 'A request over notify.timeout_seconds fails and is not retried.',
  },
  'notify.json': {
    from: 'spec 6.2, decisions 8',
    says: 'json sends message, priority (or default) and timestamp in UTC always, title and tags only when given.',
  },
  'notify.push': {
    from: 'spec 6.2, decisions 8',
    says: 'push sends the message as body, Title and Tags when given, Priority when not default.',
  },
  'notify.push-non-ascii': { from: 'decisions 8', says: 'Non-ASCII header values are encoded by RFC 2047.' },
  'notify.push-limit': {
    from: 'decisions 8',
    says: 'A push message over 4,096 bytes is a failure that names the limit.',
  },
  'notify.auto': {
    from: 'spec 6.2, decisions 8',
    says: 'auto picks push when the host is ntfy.sh or a path segment is ntfy, else json.',
  },
  'notify.headers-safe': {
    from: 'decisions 8',
    says: 'No control characters get into headers, and the model can set no other header.',
  },
  'notify.success': { from: 'decisions 8', says: '2xx is success; a redirect is a failure.' },
  'notify.retries': {
    from: 'decisions 8',
    says: 'Refused connections, 429 and 502 to 504 are tried twice more with back-off.',
  },
  'notify.answer': { from: 'decisions 8', says: 'The tool answers {success, message_id?, error?} to the model.' },
  'notify.never-fails-run': { from: 'decisions 8', says: 'A failed notification never fails the run.' },
  'notify.idempotency-key': {
    from: 'decisions 6',
    says: 'The key run:step travels as Idempotency-Key; a call in doubt is repeated once with the same key.',
  },
  'notify.span': {
    from: 'spec 6.2, decisions 8',
    says: 'The span of a notify call has notify.success, .message_id, .message_length and .priority.',
  },
  'notify.test': { from: 'decisions 2', says: 'POST /notify/test sends a test notification.' },
  'events.webhook': { from: 'decisions 8', says: 'events.webhook_url gets run.completed and run.failed.' },
  'events.callback': { from: 'decisions 8', says: 'callback_url of a run gets its run.completed or run.failed.' },
  'events.body': { from: 'decisions 8', says: 'An event is {type, id, timestamp, data: run}.' },
  'events.signed': { from: 'decisions 8', says: 'An event is signed by Standard Webhooks with events.secret.' },
  'events.retried': {
    from: 'decisions 8',
    says: 'Events are delivered from the database with retries, across restarts.',
  },
  'events.off': { from: 'decisions 8', says: 'Nothing is sent until it is configured or asked for.' },
  'deliveries.list': { from: 'decisions 2', says: 'GET /deliveries lists the outbound event deliveries.' },
  'deliveries.redeliver': { from: 'decisions 2', says: 'POST /deliveries/:id/redeliver sends one again.' },
  'deliveries.scopes': {
    from: 'decisions 2, decisions 7',
    says: 'The list of deliveries wants read; redeliver and notify test want admin.',
  },
} as const satisfies Rules
