import type { Rules } from './rule.ts'

/** What the service says about itself. */
export const healthRules = {
  'health.ok': { from: 'spec 4.2, decisions 2', says: 'GET /health answers 200 in the envelope.' },
  'health.storage-down': {
    from: 'decisions 2',
    says: 'GET /health answers 503 STORAGE_UNAVAILABLE when the database is down.',
  },
  'health.fields': {
    from: 'decisions 2',
    says: 'Health has status (ok or degraded), version, mode (local or platform) and uptime_seconds.',
  },
  'health.database': { from: 'decisions 2', says: 'Health has database with kind and ok.' },
  'health.runs': { from: 'decisions 2', says: 'Health has runs with queued, executing and oldest_queued_seconds.' },
  'health.workers': { from: 'decisions 2', says: 'Health has workers.' },
  'health.mcp-servers': { from: 'decisions 2', says: 'Health has mcp_servers with up and down.' },
  'health.model': { from: 'decisions 2', says: 'Health has model with provider and offline.' },
  'health.public': { from: 'decisions 7', says: 'Health wants no credential in platform mode.' },
  'health.anonymous': { from: 'decisions 2', says: 'Without a credential in platform mode health has status alone.' },
} as const satisfies Rules
