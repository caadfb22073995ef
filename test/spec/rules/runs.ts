import type { Rules } from './rule.ts'

/** Starting a run over REST, reading it, watching it and cancelling it. */
export const runsRules = {
  'runs.start': {
    from: 'spec 4.2, decisions 2',
    says: 'POST /agents/:id/run answers 202 with the five fields of the webhook and Location: /api/v1/runs/:id.',
  },
  'runs.start-body': {
    from: 'decisions 2',
    says: 'POST /agents/:id/run takes task, optionally variables, timeout_seconds, callback_url, and Idempotency-Key.',
  },
  'runs.start-wait': {
    from: 'decisions 2',
    says: 'With ?wait=N a run that ended in time answers 200 with the run, else the 202; N is at most 60.',
  },
  'runs.start-disabled': { from: 'spec 3, decisions 2', says: 'A disabled agent answers 404 AGENT_NOT_FOUND.' },
  'runs.input-limits': { from: 'decisions 2', says: 'A task over 256 KiB and a variable over 64 KiB are refused.' },
  'runs.list': { from: 'spec 4.2, decisions 2', says: 'GET /runs lists runs newest first, with pagination.' },
  'runs.list-filters': {
    from: 'decisions 2',
    says: 'GET /runs filters by status (failed = error), agent_id, environment, source, since, until and q.',
  },
  'runs.list-no-payloads': { from: 'decisions 2', says: 'GET /runs never reads step payloads.' },
  'runs.get': { from: 'spec 4.2, decisions 2', says: 'GET /runs/:id answers the run record with steps.' },
  'runs.get-wait': {
    from: 'decisions 2',
    says: 'GET /runs/:id?wait=N answers when the run ends or N seconds are over.',
  },
  'runs.not-found': { from: 'decisions 2', says: 'An unknown run answers 404 RUN_NOT_FOUND.' },
  'runs.record': {
    from: 'spec 2, decisions 2',
    says: 'A run has id = run_id, agent_id, agent_name, agent_version, environment, task, variables, status, message and model.',
  },
  'runs.record-outcome': {
    from: 'decisions 2',
    says: 'A run has result, steps_count, tool_calls_count and attempts; in the detail also steps.',
  },
  'runs.record-times': { from: 'decisions 2', says: 'A run has created_at, started_at, completed_at and duration_ms.' },
  'runs.record-source': {
    from: 'decisions 2',
    says: 'source has type api, webhook, mcp, cli or ui, and principal, address, user_agent, request_id.',
  },
  'runs.record-usage': {
    from: 'decisions 2',
    says: 'usage has input_tokens, output_tokens and total_tokens; cost_usd is null when the price is unknown.',
  },
  'runs.record-error': { from: 'spec 7, decisions 2', says: 'error of a run is null or {code, message}.' },
  'runs.status': { from: 'spec 2, spec 3, decisions 6', says: 'status is exactly running, completed or error.' },
  'runs.phase': {
    from: 'decisions 2, decisions 6',
    says: 'phase is queued, executing, waiting or recovering while running, null when ended.',
  },
  'runs.failure-codes': {
    from: 'decisions 2',
    says: 'A failed run has CANCELLED, MAX_STEPS_REACHED, RUN_TIMEOUT, MODEL_ERROR, TOOLS_UNAVAILABLE or INTERNAL_ERROR.',
  },
  'runs.step-record': {
    from: 'decisions 2',
    says: 'A step has index, type (model or tool), name, server, status, input, output, error, usage, attempts and times.',
  },
  'runs.step-status': { from: 'decisions 2', says: 'status of a step is running, completed, error or unknown.' },
  'runs.steps-live': { from: 'decisions 2', says: 'Steps are written as they happen and readable while the run runs.' },
  'runs.ids-never-reused': { from: 'decisions 1', says: 'The id of a run is never used again.' },
  'runs.cancel': {
    from: 'decisions 2',
    says: 'POST /runs/:id/cancel answers 202 with {run_id, status, cancelling: true}.',
  },
  'runs.cancel-ends': {
    from: 'decisions 2',
    says: 'A cancelled run ends as error with CANCELLED, calls in flight aborted.',
  },
  'runs.cancel-ended': { from: 'decisions 2', says: 'Cancelling an ended run answers 409 RUN_ALREADY_FINISHED.' },
  'runs.cancel-committed': {
    from: 'decisions 6',
    says: 'A cancel is committed before its 202 and honoured by recovery.',
  },
  'runs.events': {
    from: 'decisions 2',
    says: 'GET /runs/:id/events streams step, run and end events with the record as data and ends with the run.',
  },
  'runs.events-resume': {
    from: 'decisions 2',
    says: 'An event id is the journal sequence, Last-Event-ID resumes after it, a comment comes every 15 s.',
  },
  'runs.all-events': { from: 'decisions 2', says: 'GET /events streams the changes of all runs.' },
  'runs.stats': {
    from: 'decisions 2',
    says: 'GET /stats answers counts, durations, tokens and cost by time bucket, agent and model.',
  },
} as const satisfies Rules
