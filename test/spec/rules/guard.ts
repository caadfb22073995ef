import type { Rules } from './rule.ts'

/** What keeps a page on another origin away from every port. */
export const guardRules = {
  'guard.host': {
    from: 'decisions 2, decisions 7',
    says: 'A request whose Host is not allowed is answered 403 and has no effect, on all three ports.',
  },
  'guard.origin': {
    from: 'decisions 2, decisions 7',
    says: 'A request whose Origin is not allowed is answered 403 and has no effect, on all three ports.',
  },
  'guard.allowed-hosts': {
    from: 'decisions 1',
    says: 'allowed_hosts and allowed_origins add what Host and Origin may carry.',
  },
  'guard.no-cors': { from: 'decisions 7', says: 'No answer on any port carries a CORS header.' },
  'guard.browser': {
    from: 'decisions 7',
    says: 'A page on another origin in a real browser creates no run and reads no byte on any port.',
  },
} as const satisfies Rules
