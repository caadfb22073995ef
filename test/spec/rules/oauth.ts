import type { Rules } from './rule.ts'

/** OAuth of the MCP endpoints in platform mode: challenge, introspection, organization. */
export const oauthRules = {
  'oauth.challenge': {
    from: 'spec 5.5, spec 7',
    says: 'An MCP request without a valid token answers 401 on ports 8586 and 8587.',
  },
  'oauth.object': {
    from: 'spec 5.5',
    says: 'The 401 body has oauth with authorization_url, token_url, client_id and scopes mcp:read, mcp:execute.',
  },
  'oauth.www-authenticate': {
    from: 'decisions 7',
    says: 'The 401 has WWW-Authenticate: Bearer with resource_metadata and scope="mcp:read mcp:execute".',
  },
  'oauth.resource-metadata': { from: 'decisions 7', says: '/.well-known/oauth-protected-resource is served.' },
  'oauth.not-in-local': { from: 'decisions 7', says: 'Local mode has no OAuth challenge and no resource metadata.' },
  'oauth.accepted': {
    from: 'spec 5.5',
    says: 'A platform token as Bearer is accepted, validated on every MCP request by introspection.',
  },
  'oauth.active': { from: 'spec 5.5, decisions 7', says: 'A token is valid only when active is true.' },
  'oauth.cache': {
    from: 'spec 5.5, spec 8, decisions 7',
    says: 'A validated token is cached for 5 minutes and never past exp, a refusal for at most 10 s.',
  },
  'oauth.cache-bounded': {
    from: 'decisions 7',
    says: 'The token cache is bounded in size, and parallel checks of one token introspect once.',
  },
  'oauth.claims': {
    from: 'decisions 7',
    says: 'aud or resource (8585 takes that of 8587), token_type, nbf and exp are checked when present.',
  },
  'oauth.no-scope': { from: 'decisions 7', says: 'A token without scope has both mcp scopes.' },
  'oauth.strict-claims': {
    from: 'decisions 7',
    says: 'platform.oauth.strict_claims: true also requires aud and token_type.',
  },
  'oauth.pkce': {
    from: 'spec 5.5',
    says: 'PKCE with S256 is required on every OAuth flow, and platform metadata without S256 is refused.',
  },
  'oauth.organization': {
    from: 'spec 5.5, decisions 7',
    says: 'A token of another organization_id, org_id or org answers 403.',
  },
  'oauth.organization-absent': {
    from: 'decisions 7',
    says: 'A token without organization is accepted only from the platform that the service is registered at.',
  },
  'oauth.organization-unknown': {
    from: 'decisions 7',
    says: 'OAuth on with no way to know the own organization refuses to start.',
  },
  'oauth.tokens-only': { from: 'spec 5.5, decisions 7', says: 'With OAuth on the MCP endpoints accept no API keys.' },
  'oauth.off': {
    from: 'decisions 7',
    says: 'With OAuth off MCP accepts API keys: read to list, execute to call, write to create and update.',
  },
  'oauth.unreachable': {
    from: 'decisions 7',
    says: 'With the platform unreachable a token check answers 503 with Retry-After, never 401.',
  },
} as const satisfies Rules
