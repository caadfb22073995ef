import type { Rules } from './rule.ts'

/** The same program in several processes on PostgreSQL. */
export const scaleRules = {
  'scale.postgres': {
    from: 'decisions 1, decisions 9',
    says: 'SVC_DATABASE_URL=postgres://… keeps the data in PostgreSQL, for any number of processes.',
  },
  'scale.roles': { from: 'decisions 9', says: '`agenthost serve --role` takes all, web and worker.' },
  'scale.any-door': { from: 'decisions 9', says: 'Any replica serves any door, for runs on any worker.' },
  'scale.takeover': { from: 'decisions 9', says: 'The runs of a dead worker are taken over within 15 s.' },
  'scale.file-agents': {
    from: 'decisions 9',
    says: 'On PostgreSQL files are what a sync imports: an edit of a file agent over REST answers 409 with the reason.',
  },
  'scale.files-hash': { from: 'decisions 9', says: 'A hash of environments/ is compared between replicas and shown.' },
  'scale.same-journal': { from: 'decisions 9', says: 'A run leaves the same journal on SQLite and on PostgreSQL.' },
} as const satisfies Rules
