import type { Rules } from './rule.ts'

/** Who may call in platform mode: credentials, scopes, API keys. */
export const authRules = {
  'auth.bearer': { from: 'spec 5.1, decisions 7', says: 'Bearer accepts a platform access token or an API key.' },
  'auth.x-api-key': { from: 'spec 5.1, decisions 7', says: 'X-API-Key accepts an API key.' },
  'auth.none': { from: 'spec 5.1', says: 'A request without a credential answers 401 UNAUTHORIZED.' },
  'auth.both-different': { from: 'decisions 7', says: 'Bearer and X-API-Key at once and different answer 401.' },
  'auth.local-ignores': { from: 'decisions 7', says: 'Local mode ignores credentials, wrong ones too.' },
  'scopes.read': {
    from: 'spec 5.2, decisions 7',
    says: 'GET of agents, tools, runs, environments, MCP servers, stats and deliveries wants read.',
  },
  'scopes.write': { from: 'spec 5.2, decisions 7', says: 'POST and PUT of agents want write.' },
  'scopes.execute': { from: 'spec 5.2, decisions 7', says: 'Run, cancel and tool call want execute.' },
  'scopes.admin': {
    from: 'spec 5.2, decisions 7',
    says: 'DELETE of agents, sync, keys, config, notify test and redeliver want admin, which may do all.',
  },
  'scopes.insufficient': {
    from: 'decisions 2',
    says: 'A credential without the scope answers 403 INSUFFICIENT_SCOPE.',
  },
  'scopes.own-runs': {
    from: 'decisions 7',
    says: 'A key with execute alone reads and cancels the runs that it started; others answer 404.',
  },
  'scopes.declared': { from: 'decisions 7', says: 'Every route declares its scope.' },
  'scopes.mcp-scopes': { from: 'decisions 7', says: 'On REST mcp:read counts as read and mcp:execute as execute.' },
  'keys.create': {
    from: 'spec 4.2, spec 5.3, decisions 2',
    says: 'POST /auth/keys answers 201 with id, name, scopes, key, prefix, created_at and expires_at.',
  },
  'keys.scopes': {
    from: 'spec 2, decisions 2',
    says: 'A key has at least one scope, each of read, write, execute and admin.',
  },
  'keys.expiry': { from: 'decisions 2', says: 'expires_in_days is optional, and an expired key answers 401.' },
  'keys.list': {
    from: 'decisions 2',
    says: 'GET /auth/keys lists keys with last_used_at and revoked_at and never shows the secret.',
  },
  'keys.revoke': {
    from: 'spec 4.2, spec 5.3, decisions 2',
    says: 'DELETE /auth/keys/:key takes the id or the key itself and answers 200 with {id, revoked: true}.',
  },
  'keys.revoke-unknown': { from: 'decisions 2', says: 'An unknown or already revoked key answers 404 KEY_NOT_FOUND.' },
  'keys.revoke-at-once': { from: 'decisions 2', says: 'A revoked key is refused at once.' },
  'keys.revoke-everywhere': { from: 'decisions 2', says: 'A revoked key is refused at once in every process.' },
  'keys.bearer-form': {
    from: 'spec 5.3, decisions 7',
    says: 'Keys routes want the Bearer form; an admin key in X-API-Key answers 403 there.',
  },
  'keys.command-line': { from: 'spec 5.3', says: 'Keys are created and revoked through the command line too.' },
  'keys.settings-page': { from: 'spec 5.3', says: 'Keys are created in the settings of the web UI too.' },
  'keys.first': {
    from: 'decisions 7',
    says: '`agenthost keys create` works on a stopped home, or on the running service by a 0600 token file in data/.',
  },
  'keys.format': {
    from: 'decisions 7',
    says: 'A key is svck_<id>_<secret><checksum>; a wrong format is refused without a database read.',
  },
  'keys.hashed': { from: 'decisions 7', says: 'Only a keyed hash of a key is stored, compared in constant time.' },
} as const satisfies Rules
