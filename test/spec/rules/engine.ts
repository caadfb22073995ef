import type { Rules } from './rule.ts'

/** How a run is executed, bounded, recovered and kept. */
export const engineRules = {
  'engine.max-steps': {
    from: 'decisions 6',
    says: 'After max_steps model turns, 25 by default, a run ends with MAX_STEPS_REACHED.',
  },
  'engine.timeout': {
    from: 'decisions 6',
    says: 'After timeout_seconds, 900 by default, a run ends with RUN_TIMEOUT.',
  },
  'engine.timeout-consumed': {
    from: 'decisions 6',
    says: 'Only executing time counts, not the queue nor the downtime, and it is persisted.',
  },
  'engine.model-retry': {
    from: 'decisions 6',
    says: '429, 5xx and network failures of the model are retried in the step with back-off and Retry-After honoured.',
  },
  'engine.model-error': { from: 'decisions 6', says: 'A model that keeps failing ends the run with MODEL_ERROR.' },
  'engine.terminal-once': { from: 'decisions 6', says: 'A terminal status is written once and never changes.' },
  'engine.crash-continues': {
    from: 'decisions 6',
    says: 'After a crash every running run continues from its journal.',
  },
  'engine.no-step-twice': { from: 'decisions 6', says: 'A recorded step is never executed again.' },
  'engine.in-doubt-unknown': {
    from: 'decisions 6',
    says: 'A tool call in doubt becomes unknown and the model is told that its outcome is not known.',
  },
  'engine.in-doubt-retry-safe': {
    from: 'decisions 6',
    says: 'A tool call in doubt is repeated when its server is marked retry: safe.',
  },
  'engine.in-doubt-trusted': {
    from: 'decisions 6',
    says: 'A read-only or idempotent tool call in doubt is repeated when its server is marked trusted.',
  },
  'engine.call-key': { from: 'decisions 6', says: 'A stable key run:step is in the MCP _meta of every tool call.' },
  'engine.process-slots': {
    from: 'decisions 6',
    says: 'At most SVC_MAX_CONCURRENT_RUNS runs, 32 by default, execute in one process.',
  },
  'engine.agent-slots': { from: 'decisions 6', says: 'At most max_concurrency runs of one agent execute at once.' },
  'engine.fair-share': {
    from: 'decisions 6',
    says: 'Agents share the slots fairly; none holds more than three quarters of them while others wait.',
  },
  'engine.waiting-frees-slot': {
    from: 'decisions 6',
    says: 'A run whose tool call waits on another run gives its slot back.',
  },
  'engine.queue-full': {
    from: 'decisions 6',
    says: 'Beyond SVC_MAX_QUEUED_RUNS queued runs, 100,000 by default, a start answers 429 QUEUE_FULL.',
  },
  'engine.poison': {
    from: 'decisions 6',
    says: 'A run that took its process down 5 times ends with INTERNAL_ERROR; attempts are counted before executing.',
  },
  'engine.retention': {
    from: 'decisions 6',
    says: 'Ended runs older than SVC_RETENTION_DAYS (30, 0 = keep) are removed in slices, and the log says so.',
  },
} as const satisfies Rules
