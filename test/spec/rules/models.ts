import type { Rules } from './rule.ts'

/** Which model answers an agent and with which credential. */
export const modelsRules = {
  'models.provider-key': {
    from: 'spec 5.7, decisions 10',
    says: 'The key of a provider comes from <PROVIDER>_API_KEY (GEMINI_API_KEY = GOOGLE_API_KEY), passed on explicitly.',
  },
  'models.auth-type-first': {
    from: 'spec 5.7',
    says: 'SVC_AI_AUTH_TYPE=api_key has the first priority, provider key variables come next.',
  },
  'models.auth-type-other': {
    from: 'spec 5.7, decisions 10',
    says: 'Another SVC_AI_AUTH_TYPE is refused at start: subscription login is unavailable, use API keys.',
  },
  'models.provider-selected': { from: 'spec 5.7, decisions 10', says: 'SVC_AI_PROVIDER selects the provider.' },
  'models.provider-order': {
    from: 'decisions 10',
    says: 'Several keys and no provider named: openai, anthropic, google in this order.',
  },
  'models.default-model': {
    from: 'decisions 10',
    says: 'Each provider has a default model, and SVC_AI_MODEL names another.',
  },
  'models.base-url': {
    from: 'decisions 10',
    says: 'With SVC_AI_BASE_URL the chat-completions protocol is spoken there, with or without a key.',
  },
  'models.agent-model': { from: 'decisions 10', says: 'model of an agent is provider/model or a bare model.' },
  'models.key-missing': {
    from: 'decisions 10',
    says: 'A missing key of an agent model ends the run with MODEL_ERROR naming the variable.',
  },
  'models.offline-default': {
    from: 'decisions 1, decisions 10',
    says: 'With nothing configured local mode uses offline and says so in the log and in health.',
  },
  'models.platform-unconfigured': {
    from: 'decisions 10',
    says: 'With no model configured platform mode refuses to start.',
  },
  'offline.call-lines': {
    from: 'decisions 10',
    says: 'A line `call <tool> <json>` of the task is that tool call, one model turn each, in order.',
  },
  'offline.named-tool': {
    from: 'decisions 10',
    says: 'Without call lines offline calls the first tool whose name occurs in the task, if any.',
  },
  'offline.answer': {
    from: 'decisions 10',
    says: 'The final answer of offline quotes the results, or the rendered prompt and the task, the same every time.',
  },
  'offline.sleep': { from: 'decisions 10', says: 'A line `sleep <ms>` makes a turn of offline take that long.' },
} as const satisfies Rules
