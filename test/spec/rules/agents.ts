import type { Rules } from './rule.ts'

/** The agent record, how it is made, changed, found and removed. */
export const agentsRules = {
  'agents.record': {
    from: 'spec 2, decisions 2',
    says: 'An agent has id, name, description, prompt, environment_id, environment, model, tools, notify and enabled.',
  },
  'agents.record-more': {
    from: 'decisions 2',
    says: 'An agent has max_steps, timeout_seconds, max_concurrency, variables, version, source, created_at, updated_at.',
  },
  'agents.environment-fields': {
    from: 'spec 2, decisions 2',
    says: 'environment_id is a string and environment the name of the environment.',
  },
  'agents.model-null': {
    from: 'decisions 2',
    says: 'model is null for the default model, max_concurrency null for no limit of its own.',
  },
  'agents.tools-values': {
    from: 'decisions 2',
    says: 'tools is null for all of the environment, [] for none, else a list of names.',
  },
  'agents.variables': {
    from: 'decisions 2',
    says: 'variables lists the names that the prompt uses, with required and default.',
  },
  'agents.source': { from: 'decisions 2', says: 'source is api or file.' },
  'agents.list': { from: 'spec 4.2, decisions 2', says: 'GET /agents lists agents ordered by id, with pagination.' },
  'agents.list-filters': { from: 'decisions 2', says: 'GET /agents takes the filters environment, enabled and q.' },
  'agents.get': { from: 'spec 4.2', says: 'GET /agents/:id answers the agent.' },
  'agents.not-found': {
    from: 'spec 7, decisions 2',
    says: 'An id that no agent has answers 404 AGENT_NOT_FOUND, `Agent with ID 123 not found`.',
  },
  'agents.create': { from: 'spec 4.2, decisions 2', says: 'POST /agents answers 201 with the agent and Location.' },
  'agents.create-required': {
    from: 'decisions 2',
    says: 'POST /agents requires name and prompt; the rest is optional.',
  },
  'agents.name-form': {
    from: 'decisions 2',
    says: 'A name has 1 to 64 letters, digits, spaces, `_`, `-` or `.` and starts with a letter or digit.',
  },
  'agents.name-unique': {
    from: 'decisions 2',
    says: 'A name taken in its environment answers 409 AGENT_EXISTS; another environment may have it too.',
  },
  'agents.create-environment': {
    from: 'decisions 2',
    says: 'environment_id takes the id or the name of an environment.',
  },
  'agents.create-default-environment': {
    from: 'decisions 2',
    says: 'Without environment_id an agent is made in the environment default.',
  },
  'agents.template-error': { from: 'decisions 2', says: 'A prompt with a template syntax error answers 400.' },
  'agents.update': { from: 'spec 4.2, decisions 2', says: 'PUT /agents/:id answers 200 with the agent.' },
  'agents.update-keeps': { from: 'decisions 2', says: 'Fields left out of a PUT keep their value.' },
  'agents.update-version': { from: 'decisions 2', says: 'Every change of an agent makes a new version.' },
  'agents.update-environment': { from: 'decisions 2', says: 'A PUT that changes the environment answers 400.' },
  'agents.enable': { from: 'spec 3, decisions 2', says: 'An agent is enabled and disabled by the field enabled.' },
  'agents.delete': { from: 'spec 4.2, decisions 2', says: 'DELETE /agents/:id answers 200 with {id, deleted: true}.' },
  'agents.delete-file': { from: 'decisions 2', says: 'Removing a file agent removes its prompt file.' },
  'agents.delete-keeps-runs': { from: 'decisions 2', says: 'The runs of a removed agent stay readable.' },
  'agents.delete-running': {
    from: 'decisions 2',
    says: 'A running run of a removed agent ends on its pinned version.',
  },
  'agents.pinned-version': { from: 'decisions 2', says: 'A run keeps the agent version it started with.' },
  'agents.versions': {
    from: 'decisions 2',
    says: 'GET /agents/:id/versions lists the versions newest first, each a full record.',
  },
  'agents.version': { from: 'decisions 2', says: 'GET /agents/:id/versions/:v answers that version as a full record.' },
  'agents.version-immutable': { from: 'decisions 2', says: 'A version never changes once it is made.' },
} as const satisfies Rules
