/** What a sync would do: the prompt files on one side, the agents that came from files on the other. Pure. */
import type { Definition } from '../contract/agent.ts'
import { AppError } from '../contract/errors.ts'
import type { FiledAgent } from '../store/agent-look-up.ts'
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
  const refused = refusals(read, agents)
  const wanted = new Set(read.flatMap((prompt) => ('definition' in prompt ? [prompt.definition.name] : [])))
  const kept = new Set(agents.filter(({ file }) => file !== null && refused.has(file)))

  const changes = read.map((prompt): Change => {
    if ('message' in prompt) return { kind: 'refuse', ...prompt }
    const { file, definition } = prompt
    const message = refused.get(file)
    if (message !== undefined) return { kind: 'refuse', file, message }
    const named = agents.find(({ agent }) => agent.name === definition.name)
    const known = named ?? agents.find((other) => other.file === file && !wanted.has(other.agent.name))
    if (!known) return { kind: 'create', file, definition }
    kept.add(known)
    const same = sameDefinition(definitionOf(known.agent), definition)
    return { kind: same ? 'keep' : 'update', file, definition, known }
  })

  const gone = agents.filter((known) => known.agent.source === 'file' && !kept.has(known))
  return [...changes, ...gone.map((known): Change => ({ kind: 'remove', known }))]
}

/** Files that are left out, each with the reason. Whoever wants the name of a left-out file's agent is left out too. */
function refusals(read: readonly ReadPrompt[], agents: readonly FiledAgent[]): Map<string, string> {
  const broken = read.filter((prompt) => 'message' in prompt)
  const refused = new Map(broken.map(({ file, message }) => [file, message]))
  const owners = nameOwners(read, agents)
  for (let before = -1; before < refused.size; ) {
    before = refused.size
    for (const prompt of read) {
      if ('message' in prompt || refused.has(prompt.file)) continue
      const problem = nameProblem(prompt, owners, agents, refused)
      if (problem) refused.set(prompt.file, problem)
    }
  }
  return refused
}

function nameProblem(
  { file, definition: { name } }: { file: string; definition: Definition },
  owners: ReadonlyMap<string, string>,
  agents: readonly FiledAgent[],
  refused: ReadonlyMap<string, string>,
): string | undefined {
  const named = agents.find(({ agent }) => agent.name === name)
  if (named?.agent.source === 'api') return takenByApi(named)
  if (owners.get(name) !== file) return `the name '${name}' is already used by ${owners.get(name)}`
  if (named?.file && named.file !== file && refused.has(named.file)) {
    return `the name '${name}' belongs to ${named.file}, which was left out`
  }
  return undefined
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
