/** What a sync would do: the prompt files on one side, the agents that came from files on the other. Pure. */
import type { Definition } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import type { FiledAgent } from '../store/agents.ts'
import { definitionOf, fileDefinition, sameDefinition } from './definition.ts'
import { type FoundPrompt, PROMPT_SUFFIX } from './folders.ts'
import { readPromptFile } from './prompt-file/read.ts'
import { PromptFileError } from './prompt-file/text.ts'

export type Change =
  | { kind: 'create'; file: string; definition: Definition }
  | { kind: 'update'; file: string; definition: Definition; known: FiledAgent }
  | { kind: 'keep'; file: string; definition: Definition; known: FiledAgent }
  | { kind: 'remove'; known: FiledAgent }
  | { kind: 'refuse'; file: string; message: string }

/**
 * An agent is known by its name first and by its file second, so that a renamed file stays the same agent,
 * a renamed agent too, and two files may swap names. A file that cannot be read leaves its agent as it is.
 */
export function planSync(found: readonly FoundPrompt[], agents: readonly FiledAgent[]): Change[] {
  const claimed = new Set<FiledAgent>()
  const names = new Map<string, string>()
  const read = found.map((prompt) => readFound(prompt))
  const wantedNames = new Set(read.flatMap((prompt) => ('definition' in prompt ? [prompt.definition.name] : [])))

  const claim = (known: FiledAgent | undefined) => known && claimed.add(known) && known
  const byName = (name: string) => agents.find(({ agent }) => agent.name === name)
  const byFile = (file: string) => agents.find((known) => known.file === file && !wantedNames.has(known.agent.name))

  const changes = read.map((prompt): Change => {
    if ('message' in prompt) {
      claim(agents.find(({ file }) => file === prompt.file))
      return { kind: 'refuse', ...prompt }
    }
    const { file, definition } = prompt
    const twin = names.get(definition.name)
    if (twin) return { kind: 'refuse', file, message: `the name '${definition.name}' is already used by ${twin}` }
    names.set(definition.name, file)
    const named = byName(definition.name)
    if (named?.agent.source === 'api') return { kind: 'refuse', file, message: takenByApi(named) }
    const known = claim(named ?? byFile(file))
    if (!known) return { kind: 'create', file, definition }
    const same = sameDefinition(definitionOf(known.agent), definition)
    return { kind: same ? 'keep' : 'update', file, definition, known }
  })

  const gone = agents.filter((known) => known.agent.source === 'file' && !claimed.has(known))
  return [...changes, ...gone.map((known): Change => ({ kind: 'remove', known }))]
}

type ReadPrompt = { file: string; definition: Definition } | { file: string; message: string }

function readFound(prompt: FoundPrompt): ReadPrompt {
  const { file } = prompt
  if ('error' in prompt) return { file, message: prompt.error }
  try {
    return { file, definition: fileDefinition(readPromptFile(prompt.text), file.slice(0, -PROMPT_SUFFIX.length)) }
  } catch (error) {
    if (error instanceof PromptFileError || error instanceof AppError) return { file, message: error.message }
    throw error
  }
}

const takenByApi = ({ agent }: FiledAgent) =>
  `the name '${agent.name}' belongs to agent ${agent.id}, created over the API; rename one of them`
