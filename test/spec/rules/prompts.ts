import type { Rules } from './rule.ts'

/** The template of a prompt, the messages it becomes, and prompt files. */
export const promptsRules = {
  'prompts.plain': { from: 'decisions 4', says: '`{{name}}` is replaced by the variable of that name.' },
  'prompts.section': {
    from: 'decisions 4',
    says: '`{{#name}}…{{/name}}` is kept when the variable has a value, `{{^name}}…{{/name}}` when it has none.',
  },
  'prompts.no-code': {
    from: 'decisions 4',
    says: 'A template runs no code, has no partials and cannot change its delimiters.',
  },
  'prompts.no-escaping': { from: 'decisions 4', says: 'Values are inserted without HTML escaping.' },
  'prompts.inserted-once': { from: 'decisions 4', says: 'An inserted value is never read as a template.' },
  'prompts.task': { from: 'decisions 4', says: '`{{task}}` and `{{userInput}}` are the task.' },
  'prompts.task-reserved': { from: 'decisions 4', says: 'A caller variable named task or userInput answers 400.' },
  'prompts.literal': { from: 'decisions 4', says: 'Literal double braces have a documented escape.' },
  'prompts.required': {
    from: 'decisions 4',
    says: 'Required are names used as plain `{{name}}` outside a section of that name and without a default.',
  },
  'prompts.missing-variables': {
    from: 'decisions 4',
    says: 'Missing required variables answer 400 and are named, before a run exists.',
  },
  'prompts.extra-variables': {
    from: 'decisions 4',
    says: 'Variables that the prompt does not use are kept with the run.',
  },
  'prompts.messages': {
    from: 'decisions 4',
    says: 'Without role markers the prompt is the system message and the task the user message.',
  },
  'prompts.role-markers': {
    from: 'decisions 4',
    says: '`{{role "system"}}` and `{{role "user"}}` split the prompt into messages of these roles.',
  },
  'files.place': {
    from: 'spec 2, decisions 4',
    says: 'A prompt file environments/<env>/agents/<name>.prompt, front matter then body, defines an agent.',
  },
  'files.spec-keys': {
    from: 'spec 2',
    says: 'The front matter takes model as a string, notify as a boolean and tools as a list of names.',
  },
  'files.more-keys': {
    from: 'decisions 4',
    says: 'The front matter also takes name, description, enabled, max_steps, timeout_seconds, max_concurrency, variables.',
  },
  'files.variables-key': {
    from: 'decisions 4',
    says: 'variables of the front matter maps a name to description and default.',
  },
  'files.write-back': { from: 'decisions 4', says: 'A file agent edited through the API is written back to its file.' },
  'files.edits-keep': {
    from: 'decisions 4',
    says: 'Comments and unknown keys of the front matter survive an edit through the API.',
  },
  'files.yaml-only': {
    from: 'decisions 4',
    says: 'The front matter is YAML without custom tags; anything else is an error of that file.',
  },
  'files.size-limit': { from: 'decisions 4', says: 'A prompt file over the size limit is an error of that file.' },
} as const satisfies Rules
