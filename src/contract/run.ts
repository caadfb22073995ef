/** A run: one task given to one agent. Its record, its steps, and what callers send to start one. */
import { z } from 'zod'
import { time } from './time.ts'
import type { Json } from './tool.ts'

const MAX_TASK_BYTES = 256 * 1024
const MAX_VARIABLE_BYTES = 64 * 1024
const MAX_WAIT_SECONDS = 60

/** Every reason for which a run can fail, closed. */
export const RUN_FAILURES = [
  'CANCELLED',
  'MAX_STEPS_REACHED',
  'RUN_TIMEOUT',
  'MODEL_ERROR',
  'TOOLS_UNAVAILABLE',
  'INTERNAL_ERROR',
] as const

export const runStatus = z.enum(['running', 'completed', 'error'])
const runPhase = z.enum(['queued', 'executing', 'waiting', 'recovering'])
export const sourceType = z.enum(['api', 'webhook', 'mcp', 'cli', 'ui'])

const runError = z.object({ code: z.enum(RUN_FAILURES), message: z.string() }).meta({ id: 'RunError' })

const usage = z
  .object({
    input_tokens: z.int().nonnegative(),
    output_tokens: z.int().nonnegative(),
    total_tokens: z.int().nonnegative(),
  })
  .meta({ id: 'Usage' })

const source = z
  .object({
    type: sourceType,
    principal: z.string().nullable().meta({ description: 'Who called; null where nobody has to say.' }),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.string().nullable(),
  })
  .meta({
    id: 'RunSource',
    description: 'Where the run came from. What it says of principal and address is found out, not told.',
  })

export const step = z
  .object({
    index: z.int().nonnegative(),
    type: z.enum(['model', 'tool']),
    name: z.string().meta({ description: 'The model, or the tool.' }),
    server: z.string().nullable().meta({ description: 'The MCP server of a tool.' }),
    status: z.enum(['running', 'completed', 'error', 'unknown']).meta({
      description: 'unknown: the service stopped during the call, and nobody can tell whether it happened.',
    }),
    input: z.unknown(),
    output: z.unknown(),
    error: z.string().nullable(),
    usage: usage.nullable(),
    attempts: z.int().positive(),
    started_at: time,
    completed_at: time.nullable(),
    duration_ms: z.int().nonnegative().nullable(),
  })
  .meta({ id: 'Step', description: 'One model turn or one tool call, written as it happens.' })

export const run = z
  .object({
    id: z.int().positive(),
    run_id: z.int().positive().meta({ description: 'The same number as id.' }),
    agent_id: z.int().positive(),
    agent_name: z.string(),
    agent_version: z.int().positive().meta({ description: 'The version it started with, and keeps.' }),
    environment: z.string(),
    task: z.string(),
    variables: z.record(z.string(), z.string()),
    status: runStatus,
    phase: runPhase.nullable().meta({ description: 'What a running run is doing; null once it ended.' }),
    message: z.string(),
    result: z.string().nullable().meta({ description: 'The final answer.' }),
    error: runError.nullable(),
    model: z.string().nullable().meta({ description: 'provider/model' }),
    usage,
    cost_usd: z.number().nullable().meta({ description: 'null = a price is not known.' }),
    steps_count: z.int().nonnegative(),
    tool_calls_count: z.int().nonnegative(),
    attempts: z.int().nonnegative().meta({ description: 'How often it was taken up; more than 1 after a stop.' }),
    source,
    created_at: time,
    started_at: time.nullable(),
    completed_at: time.nullable(),
    duration_ms: z.int().nonnegative().nullable().meta({ description: 'From its start to its end, on the clock.' }),
  })
  .meta({
    id: 'Run',
    description:
      'One task given to one agent. In lists, task and result are cut at 4,096 characters and variables over 16 KiB left out.',
  })

export const runDetail = run
  .extend({ steps: z.array(step) })
  .meta({ id: 'RunDetail', description: 'A run with its steps so far.' })

const bytes = (text: string) => Buffer.byteLength(text)

export const task = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => bytes(text) <= MAX_TASK_BYTES, `must be at most ${MAX_TASK_BYTES / 1024} KiB`)
  .meta({ description: 'What the agent is to do; at most 256 KiB.' })

const variableValue = z
  .string('must be a text')
  .refine((text) => bytes(text) <= MAX_VARIABLE_BYTES, `must be at most ${MAX_VARIABLE_BYTES / 1024} KiB`)

export const variables = z
  .record(z.string(), variableValue)
  .refine((values) => Object.keys(values).length <= 1000, 'must have at most 1000 names')
  .refine(
    (values) => !('task' in values || 'userInput' in values),
    'must not have the names task and userInput: they are the task of the run',
  )
  .meta({ description: 'Values for the {{variables}} of the prompt, each at most 64 KiB; not task and userInput.' })

export const runStart = z
  .strictObject({
    task,
    variables: variables.default({}),
    timeout_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .meta({ description: "Most executing time; the agent's own when left out." }),
    callback_url: z
      .url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' })
      .max(2048)
      .optional()
      .meta({ description: 'Kept with the run; nothing is sent there in this version.' }),
  })
  .meta({ id: 'RunStart' })

export const runAccepted = z
  .object({
    run_id: z.int().positive(),
    agent_id: z.int().positive(),
    agent_name: z.string(),
    status: z.literal('running'),
    message: z.string(),
  })
  .meta({ id: 'RunAccepted', description: 'The run is on disk and will be executed.' })

export const runCancelling = z
  .object({ run_id: z.int().positive(), status: runStatus, cancelling: z.literal(true) })
  .meta({ id: 'RunCancelling', description: 'The run will end with CANCELLED.' })

/** Seconds to wait for the end of a run; more than the most is served as the most. */
export const waitSeconds = z
  .int()
  .min(0)
  .transform((seconds) => Math.min(seconds, MAX_WAIT_SECONDS))
  .optional()
  .meta({ description: `Seconds to wait for the end; more than ${MAX_WAIT_SECONDS} is served as ${MAX_WAIT_SECONDS}.` })

export type Run = z.infer<typeof run>
export type RunDetail = z.infer<typeof runDetail>
export type Step = z.infer<typeof step>
export type RunAccepted = z.infer<typeof runAccepted>
export type RunStatus = z.infer<typeof runStatus>
export type RunSource = z.infer<typeof source>
export type RunFailure = z.infer<typeof runError>
export type SourceType = z.infer<typeof sourceType>
export type RunPhase = z.infer<typeof runPhase>

/** What a prompt becomes: the messages a run begins with. */
export interface FirstMessage {
  role: 'system' | 'user'
  content: string
}

/** The arguments of a tool call. */
export type CallInput = { [key: string]: Json }
