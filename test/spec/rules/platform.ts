import type { Rules } from './rule.ts'

/** The external platform: its endpoints, registration, login. */
export const platformRules = {
  'platform.endpoints': {
    from: 'decisions 7',
    says: 'OAuth endpoints are discovered at platform.url (RFC 8414) or set one by one under platform.oauth.',
  },
  'platform.register': {
    from: 'spec 1.7, spec 5.6, decisions 7',
    says: 'With a registration key the service registers at POST {platform.url}/api/v1/services/register.',
  },
  'platform.register-body': {
    from: 'decisions 7',
    says: 'Registration sends the key as Bearer and name, tags, version and endpoints.',
  },
  'platform.heartbeat': { from: 'decisions 7', says: 'A heartbeat with version and counts is sent every 60 s.' },
  'platform.never-blocks': {
    from: 'decisions 7',
    says: 'Registration is repeated with back-off and never blocks the start.',
  },
  'platform.manages': {
    from: 'spec 1.7, decisions 7',
    says: 'The platform manages the service through the REST API with its token.',
  },
  'platform.login': {
    from: 'spec 5.6, decisions 7',
    says: '`agenthost login` prompts for a platform API key, or with --browser logs in with PKCE S256.',
  },
  'platform.status-logout': {
    from: 'spec 5.6, decisions 7',
    says: '`agenthost status` tells the connection and `agenthost logout` ends it.',
  },
  'platform.secrets': {
    from: 'spec 5.6',
    says: 'Registration keys and API keys never appear in output, logs or answers.',
  },
  'platform.docs': { from: 'decisions 7', says: 'docs/platform.md holds the wire format.' },
  'platform.ui-login': {
    from: 'decisions 7',
    says: 'The web UI logs in by API key or by /auth/login and /auth/callback with PKCE.',
  },
  'platform.ui-cookie': {
    from: 'decisions 7',
    says: 'The UI session is an HttpOnly SameSite=Strict cookie with a check of Origin.',
  },
} as const satisfies Rules
