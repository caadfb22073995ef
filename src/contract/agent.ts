/** An agent: a name, a prompt and a set of tools. Its record, what callers may send, and its limits. */
import { z } from 'zod'
import { time } from './time.ts'

const MAX_PROMPT_CHARACTERS = 262_144

const agentName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,62}[A-Za-z0-9_.-])?$/,
    'must be 1–64 letters, digits, spaces or _ - . , start with a letter or digit and not end with a space',
  )

const variableName = z.string().regex(/^[A-Za-z_]\w{0,63}$/, 'must be letters, digits and _, not starting with a digit')

const variable = z
  .object({
    name: variableName,
    required: z.boolean().meta({ description: 'True when a run must give it: used plainly, and without a default.' }),
    default: z.string().nullable(),
    description: z.string().nullable(),
  })
  .meta({ id: 'Variable', description: 'A name that the prompt uses as {{name}}.' })

const description = z.string().max(4096)
const prompt = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_PROMPT_CHARACTERS)
  .meta({ description: 'The instructions: a template with {{variables}}.' })
const model = z.string().min(1).max(200).nullable().meta({ description: 'provider/model or a model; null = default.' })
const tools = z
  .array(z.string().min(1).max(128))
  .max(1000)
  .nullable()
  .meta({ description: 'null = every tool of the environment; [] = none.' })
const maxSteps = z.int().min(1).max(1000).meta({ description: 'Most model turns of a run; 25 when left out.' })
const timeoutSeconds = z
  .int()
  .min(1)
  .max(86_400)
  .meta({ description: 'Most executing time of a run; 900 when left out.' })
const maxConcurrency = z.int().min(1).max(10_000).nullable().meta({ description: 'null = no limit of its own.' })
const agentSource = z.enum(['api', 'file'])

/** What makes an agent the agent it is; every change of it is a new version. */
export const definition = z.object({
  name: agentName,
  description,
  prompt,
  model,
  tools,
  notify: z.boolean(),
  enabled: z.boolean(),
  max_steps: maxSteps,
  timeout_seconds: timeoutSeconds,
  max_concurrency: maxConcurrency,
  variables: z.array(variable),
})

export const DEFAULT_DEFINITION = {
  description: '',
  model: null,
  tools: null,
  notify: false,
  enabled: true,
  max_steps: 25,
  timeout_seconds: 900,
  max_concurrency: null,
  variables: [],
} as const

export const agent = definition
  .extend({
    id: z.int().positive(),
    environment_id: z.string(),
    environment: z.string(),
    version: z.int().positive(),
    source: agentSource,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Agent', description: 'A name, a prompt and a set of tools.' })

/** A caller declares defaults and descriptions; whether a variable is required follows from the prompt. */
const declaredVariable = z.strictObject({
  name: variableName,
  default: z.string().max(65_536).nullable().optional(),
  description: z.string().max(4096).nullable().optional(),
  required: z.boolean().optional().meta({ description: 'Ignored: derived from the prompt.', readOnly: true }),
})

const declaredVariables = z
  .array(declaredVariable)
  .max(200)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must not have a name twice')
  .refine((list) => !list.some(({ name }) => name === 'task' || name === 'userInput'), 'task is the task of the run')
  .meta({ description: 'Defaults and descriptions; names that the prompt does not use are dropped.' })

const changeable = {
  description: description.optional(),
  model: model.optional(),
  tools: tools.optional(),
  notify: z.boolean().optional(),
  enabled: z.boolean().optional(),
  max_steps: maxSteps.optional(),
  timeout_seconds: timeoutSeconds.optional(),
  max_concurrency: maxConcurrency.optional(),
  variables: declaredVariables.optional(),
}

const environmentRef = z.string().min(1).max(64).meta({ description: 'Id or name of an environment.' })

export const agentCreate = z
  .strictObject({ name: agentName, prompt, environment_id: environmentRef.optional(), ...changeable })
  .meta({ id: 'AgentCreate' })

/** Fields of the record that a PUT may carry back unchanged in meaning: read, and ignored. */
const ignored = z.unknown().optional().meta({ description: 'Read-only; ignored.', readOnly: true })

export const agentUpdate = z
  .strictObject({
    name: agentName.optional(),
    prompt: prompt.optional(),
    environment_id: environmentRef.optional().meta({ description: 'Must be its own: agents do not move.' }),
    ...changeable,
    id: ignored,
    environment: ignored,
    version: ignored,
    source: ignored,
    created_at: ignored,
    updated_at: ignored,
  })
  .meta({ id: 'AgentUpdate', description: 'Fields left out keep their value.' })

export type Agent = z.infer<typeof agent>
export type AgentSource = z.infer<typeof agentSource>
export type Definition = z.infer<typeof definition>
export type Variable = z.infer<typeof variable>
export type AgentCreate = z.infer<typeof agentCreate>
export type AgentUpdate = z.infer<typeof agentUpdate>
