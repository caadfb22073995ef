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
 * a renamed agent too, and two files may swap names. A file that is refused leaves its agent as it is.
 */
export function planSync(found: readonly FoundPrompt[], agents: readonly FiledAgent[]): Change[] {
  const read = found.map(readFound)
  const owners = nameOwners(read, agents)
  const claimed = new Set<FiledAgent>()
  const claim = (known: FiledAgent | undefined) => known && claimed.add(known) && known

  const refuse = (file: string, message: string): Change => {
    claim(agents.find((known) => known.file === file))
    return { kind: 'refuse', file, message }
  }
  const changes = read.map((prompt): Change => {
    if ('message' in prompt) return refuse(prompt.file, prompt.message)
    const { file, definition } = prompt
    const named = agents.find(({ agent }) => agent.name === definition.name)
    if (named?.agent.source === 'api') return refuse(file, takenByApi(named))
    const owner = owners.get(definition.name)
    if (owner !== file) return refuse(file, `the name '${definition.name}' is already used by ${owner}`)
    const renamed = agents.find((known) => known.file === file && !owners.has(known.agent.name))
    const known = claim(named ?? renamed)
    if (!known) return { kind: 'create', file, definition }
    const same = sameDefinition(definitionOf(known.agent), definition)
    return { kind: same ? 'keep' : 'update', file, definition, known }
  })

  const gone = agents.filter((known) => known.agent.source === 'file' && !claimed.has(known))
  return [...changes, ...gone.map((known): Change => ({ kind: 'remove', known }))]
}

/** Which file may have each name: the one that has it already, else the first that asks. */
function nameOwners(read: readonly ReadPrompt[], agents: readonly FiledAgent[]): Map<string, string> {
  const owners = new Map<string, string>()
  for (const prompt of read) {
    if ('message' in prompt) continue
    const { name } = prompt.definition
    const holds = agents.some((known) => known.agent.name === name && known.file === prompt.file)
    if (holds || !owners.has(name)) owners.set(name, prompt.file)
  }
  return owners
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
