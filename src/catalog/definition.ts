/** Makes a whole, checked definition out of what a caller sent or a prompt file says. */
import { isDeepStrictEqual } from 'node:util'
import {
  type Agent,
  type AgentCreate,
  type AgentUpdate,
  DEFAULT_DEFINITION,
  type Definition,
  definition,
} from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import type { PromptFile } from './prompt-file/read.ts'
import { TemplateError } from './template/source.ts'
import { parseTemplate } from './template/template.ts'
import { describeVariables, type VariableSettings } from './template/variables.ts'

type Declared = Record<string, VariableSettings>
type Fields = Omit<Definition, 'variables'>

export function newDefinition(input: AgentCreate): Definition {
  const { environment_id: _, variables = [], ...fields } = input
  return complete({ ...DEFAULT_DEFINITION, ...given(fields) } as Fields, declaredIn(variables))
}

/** Fields left out keep their value; so do the defaults of variables that the prompt still uses. */
export function changedDefinition(current: Definition, change: AgentUpdate): Definition {
  const { variables = current.variables, ...fields } = change
  return complete({ ...current, ...given(pickDefinition(fields)) } as Fields, declaredIn(variables))
}

/** Lines in messages count from the top of the file. */
export function fileDefinition({ settings, prompt, promptLine }: PromptFile, fallbackName: string): Definition {
  const { variables = {}, ...fields } = settings
  const all = complete(
    { ...DEFAULT_DEFINITION, name: fallbackName, ...given(fields), prompt } as Fields,
    variables,
    promptLine,
  )
  const checked = definition.safeParse(all)
  if (checked.success) return checked.data
  const problem = checked.error.issues[0]
  throw new AppError('INVALID_REQUEST', `${problem?.path.join('.')}: ${problem?.message}`)
}

export const sameDefinition = (one: Definition, other: Definition): boolean =>
  isDeepStrictEqual(pickDefinition(one), pickDefinition(other))

export const definitionOf = (agent: Agent): Definition => pickDefinition(agent) as Definition

function complete(fields: Fields, declared: Declared, firstLine?: number): Definition {
  const variables = describeVariables(parsePrompt(fields.prompt, firstLine), declared)
  return { ...pickDefinition(fields), variables } as Definition
}

/** Throws INVALID_REQUEST when the prompt is not a template. */
export function parsePrompt(prompt: string, firstLine = 1) {
  try {
    return parseTemplate(prompt)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const message = error.message.replace(/^Line \d+/, `Line ${firstLine + error.line - 1}`)
    throw new AppError('INVALID_REQUEST', `The prompt is not a valid template: ${message}`, {
      details: [{ path: '/prompt', message }],
    })
  }
}

const declaredIn = (variables: NonNullable<AgentUpdate['variables']>): Declared =>
  Object.fromEntries(
    variables.map(({ name, default: value, description }) => [
      name,
      given({ default: value ?? undefined, description: description ?? undefined }),
    ]),
  )

const DEFINITION_KEYS = Object.keys(definition.shape)

const pickDefinition = (fields: object): Partial<Definition> =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => DEFINITION_KEYS.includes(key)))

const given = <Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
