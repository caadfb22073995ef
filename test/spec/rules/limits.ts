import type { Rules } from './rule.ts'

/** How often one may call. */
export const limitsRules = {
  'limits.local-none': { from: 'spec 8', says: 'The REST API of local mode has no rate limit.' },
  'limits.webhook-none': { from: 'spec 8', says: 'The webhook has no rate limit by default.' },
  'limits.proxy-advised': {
    from: 'spec 8',
    says: 'The docs advise a reverse proxy to limit the webhook and show how it is set up.',
  },
  'limits.platform': {
    from: 'spec 8, decisions 7',
    says: 'In platform mode the 101st request of a principal within a sliding minute answers 429 RATE_LIMITED.',
  },
  'limits.by-address': { from: 'decisions 7', says: 'Unauthenticated requests are counted by address.' },
  'limits.headers': { from: 'decisions 7', says: 'The 429 has Retry-After, RateLimit and RateLimit-Policy.' },
  'limits.health-exempt': { from: 'decisions 7', says: 'Health is exempt from the rate limit.' },
  'limits.stream-once': { from: 'decisions 7', says: 'An open event stream counts once.' },
  'limits.shared': { from: 'decisions 7', says: 'On PostgreSQL there is one count across processes.' },
} as const satisfies Rules
