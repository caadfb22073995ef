/** What a change of an agent makes of its prompt file. The file is the truth: what it says now is what gets changed. */
import type { AgentUpdate, Definition, Variable } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import { changedDefinition, fileDefinition } from './definition.ts'
import { PROMPT_SUFFIX } from './folders.ts'
import { editPromptFile, type PromptFileChange } from './prompt-file/edit.ts'
import { readPromptFile } from './prompt-file/read.ts'
import { HEADER_LIMIT, MAX_PROMPT_FILE_BYTES, PromptFileError } from './prompt-file/text.ts'
import type { VariableSettings } from './template/variables.ts'

export interface FileChange {
  after: string
  /** What the file then says, which is what the database has to say too. */
  definition: Definition
}

export function changeInFile(file: string, before: string, change: AgentUpdate): FileChange {
  const found = orConflict(file, () => readPromptFile(before))
  const current = orConflict(file, () => fileDefinition(found, nameOf(file)))
  const wanted = differences(current, changedDefinition(current, change), found.settings.variables ?? {})
  refuseWhatDoesNotFit(wanted)
  const after = orConflict(file, () => editPromptFile(before, wanted))
  return { after, definition: fileDefinition(readPromptFile(after), nameOf(file)) }
}

export const mendFirst = (file: string, problem: string): AppError =>
  new AppError('CONFLICT', `The prompt file ${file} has to be mended by hand first: ${problem}`)

/** A file that a person broke, or wrote in a way we cannot edit, is for that person to mend. */
function orConflict<Result>(file: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof PromptFileError || error instanceof AppError) throw mendFirst(file, error.message)
    throw error
  }
}

/** Only what really changes goes into the file. */
function differences(current: Definition, wanted: Definition, declared: Declarations): PromptFileChange {
  const isChanged = (key: keyof Definition) => JSON.stringify(wanted[key]) !== JSON.stringify(current[key])
  const { variables, ...rest } = Object.fromEntries(
    (Object.keys(wanted) as (keyof Definition)[]).filter(isChanged).map((key) => [key, wanted[key]]),
  ) as Partial<Definition>
  return variables ? { ...rest, variables: { ...declared, ...declarations(variables) } } : rest
}

type Declarations = Record<string, VariableSettings>

/** Variables the way prompt files declare them; what a person declared for later use stays beside them. */
const declarations = (variables: readonly Variable[]): Declarations =>
  Object.fromEntries(
    variables.map(({ name, default: value, description }) => [
      name,
      { ...(description === null ? {} : { description }), ...(value === null ? {} : { default: value }) },
    ]),
  )

/** A prompt that the database could keep may be too long for a file; that is said of the request, not of the file. */
function refuseWhatDoesNotFit({ prompt, ...settings }: PromptFileChange): void {
  const bytes = (value: string) => Buffer.byteLength(value)
  if (prompt && bytes(prompt) > MAX_PROMPT_FILE_BYTES - HEADER_LIMIT) throw doesNotFit('/prompt')
  if (bytes(JSON.stringify(settings)) > HEADER_LIMIT / 2) throw doesNotFit('/variables')
}

function doesNotFit(path: string): AppError {
  const message = 'is too long for a prompt file'
  return new AppError('INVALID_REQUEST', `The request is not valid: ${path.slice(1)} ${message}`, {
    details: [{ path, message }],
  })
}

const nameOf = (file: string) => file.slice(0, -PROMPT_SUFFIX.length)
