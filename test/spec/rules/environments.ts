import type { Rules } from './rule.ts'

/** Environments are folders; a sync brings their files into the catalog. */
export const environmentsRules = {
  'environments.list': { from: 'spec 4.2', says: 'GET /environments lists the environments with pagination.' },
  'environments.get': {
    from: 'spec 2, spec 4.2',
    says: 'GET /environments/:name answers the environment of that name.',
  },
  'environments.not-found': { from: 'decisions 2', says: 'An unknown environment answers 404 ENVIRONMENT_NOT_FOUND.' },
  'environments.record': {
    from: 'decisions 2',
    says: 'An environment has id (string), name, description, last_sync, created_at and updated_at.',
  },
  'environments.tool-counts': {
    from: 'decisions 2',
    says: 'mcp_servers_count and tools_count are the numbers of servers and tools in the environment.',
  },
  'environments.counts': {
    from: 'decisions 2',
    says: 'An environment has agents_count, mcp_servers_count and tools_count; agents_count is the number of its agents.',
  },
  'environments.last-sync': { from: 'decisions 2', says: 'last_sync has status, at, changes as a count, and errors.' },
  'environments.name-form': {
    from: 'decisions 2',
    says: 'A name is a letter, then letters, digits, `_` or `-`, at most 63 in all.',
  },
  'environments.new-folder': { from: 'decisions 2', says: 'A new folder under environments/ becomes an environment.' },
  'sync.answer': {
    from: 'spec 4.2, decisions 2',
    says: 'A sync answers 200 with dry_run, created, updated, removed, unchanged and errors.',
  },
  'sync.dry-run': {
    from: 'decisions 2',
    says: 'The body of a sync is optional; with dry_run: true it tells what it would do and changes nothing.',
  },
  'sync.created': { from: 'decisions 2', says: 'A new prompt file is in created and its agent exists.' },
  'sync.updated': { from: 'decisions 2', says: 'A changed prompt file is in updated and its agent has a new version.' },
  'sync.removed': {
    from: 'decisions 2',
    says: 'An agent whose prompt file is gone is in removed and no longer exists.',
  },
  'sync.unchanged': {
    from: 'decisions 2',
    says: 'A prompt file without changes is in unchanged and makes no version.',
  },
  'sync.bad-file': {
    from: 'decisions 2',
    says: 'A bad file is in errors with file and message and never stops the rest.',
  },
  'sync.bad-server': {
    from: 'decisions 2',
    says: 'A bad server is in errors with server and message and never stops the rest.',
  },
  'sync.only-file-agents': { from: 'decisions 2', says: 'A sync removes no agent of source api.' },
  'sync.at-start': { from: 'decisions 2', says: 'A sync of all environments runs at start, in the background.' },
  'sync.file-is-truth': { from: 'decisions 4', says: 'At a sync the prompt file wins over what the database holds.' },
} as const satisfies Rules
