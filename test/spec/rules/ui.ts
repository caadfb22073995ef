import type { Rules } from './rule.ts'

/** The web UI, as far as it is promised. */
export const uiRules = {
  'ui.on-rest-port': { from: 'decisions 1', says: 'The web UI is served on the REST port.' },
  'ui.built-at-start': { from: 'decisions 1', says: '`npm start` builds the web UI when it is missing or stale.' },
  'ui.offline-said': { from: 'decisions 10', says: 'The web UI says when the offline model answers.' },
  'ui.retention-said': { from: 'decisions 6', says: 'The web UI says that old runs are removed.' },
  'ui.edits-write-back': {
    from: 'decisions 4',
    says: 'An edit of a file agent in the web UI is written back to its file.',
  },
} as const satisfies Rules
