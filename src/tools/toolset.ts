/** Which tools a run may call: decided once, when it starts, and held to whenever it calls one. */
import { didYouMean, nearest } from '../config/nearest.ts'
import type { OfferedTool, Tool } from '../contract/tool.ts'
import type { Store } from '../store/store.ts'
import type { StoredTool } from '../store/tools/tools.ts'
import { chooseTools, sharing } from './choose-tools.ts'
import { repeatPolicy, type ServerPromises } from './repeat-policy.ts'
import type { EnvironmentRef } from './supervisor/roster.ts'
import type { Supervisor } from './supervisor/supervisor.ts'

interface ToolWishes {
  environment: string
  environment_id: number
  /** Names; null = every tool of the environment. */
  tools: readonly string[] | null
  notify: boolean
}

export interface Toolset {
  /**
   * What the agent may call. Servers that were never heard get a while to answer.
   * Rejects with ToolsUnavailable when the agent names a tool that is not to be had.
   */
  offerTo(wishes: ToolWishes): Promise<OfferedTool[]>
  /** The same tools, to be called. One that is no longer there answers with an error. */
  bind(offered: readonly OfferedTool[], wishes: Pick<ToolWishes, 'environment' | 'environment_id'>): Promise<Tool[]>
}

/** The message is for the person who reads the run. */
export class ToolsUnavailable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolsUnavailable'
  }
}

interface ToolsetParts {
  store: Store
  supervisor: Supervisor
  /** The tool that notifies people, where there is somewhere to notify. */
  notify?: Tool | undefined
}

export function createToolset({ store, supervisor, notify }: ToolsetParts): Toolset {
  /** The lists are in the database: what is known is offered without a connection. */
  async function available(environment: EnvironmentRef): Promise<OfferedTool[]> {
    const servers = await supervisor.servers(environment)
    const stored = await store.tools.ofEnvironment(environment.id)
    return stored.flatMap((tool) => {
      const server = servers.get(tool.server)
      return server ? [toOffer(tool, server)] : []
    })
  }

  async function everything(environment: EnvironmentRef): Promise<OfferedTool[]> {
    await Promise.all(await supervisor.hear(environment))
    return available(environment)
  }

  /** Who knows what it wants waits for nobody else's servers. */
  async function named(environment: EnvironmentRef, wanted: readonly string[]): Promise<OfferedTool[]> {
    let hearings: Set<Promise<void>> | undefined
    for (;;) {
      const known = await available(environment)
      const { chosen, missing } = chooseTools(known, wanted)
      if (missing.length === 0) return chosen
      hearings ??= selfRemoving(await supervisor.hear(environment))
      if (hearings.size === 0) throw unavailable(missing, known, await supervisor.troubles(environment))
      await Promise.race(hearings)
    }
  }

  return {
    async offerTo({ environment: name, environment_id: id, tools, notify: wantsNotify }) {
      const wanted = tools && wantsNotify ? tools.filter((tool) => tool !== notify?.name) : tools
      const environment = { id, name }
      const chosen = wanted === null ? await everything(environment) : await named(environment, wanted)
      return wantsNotify && notify ? [...chosen, toPlain(notify)] : chosen
    },

    async bind(offered, { environment, environment_id: id }) {
      const servers = await supervisor.servers({ id, name: environment })
      return offered.map((tool) => ({
        ...tool,
        // The operator may have taken back a promise since; one that was made since comes too late for this run.
        repeat: isStillSafe(tool, servers) ? tool.repeat : 'never',
        call: caller(tool, environment),
      }))
    },
  }

  function caller({ server, name, own_name = name, input_schema }: OfferedTool, environment: string): Tool['call'] {
    if (server !== null) {
      const target = { environment, server, tool: { name: own_name, input_schema } }
      return (input, context) => supervisor.call(target, input, context)
    }
    if (notify?.name === name) return notify.call
    return async () => ({ output: `The tool '${name}' is not there any more`, is_error: true })
  }
}

function toOffer({ name, own_name, server, description, ...tool }: StoredTool, promises: ServerPromises): OfferedTool {
  return {
    name,
    server,
    ...(own_name === name ? {} : { own_name }),
    description,
    input_schema: tool.input_schema as OfferedTool['input_schema'],
    repeat: repeatPolicy(promises, tool.annotations),
  }
}

const toPlain = ({ call: _, ...offered }: Tool): OfferedTool => offered

function isStillSafe({ server }: OfferedTool, servers: Map<string, ServerPromises>): boolean {
  if (server === null) return true
  const { retry, trusted } = servers.get(server) ?? {}
  return retry === 'safe' || (retry === undefined && trusted === true)
}

function selfRemoving(promises: readonly Promise<void>[]): Set<Promise<void>> {
  const left = new Set<Promise<void>>()
  for (const promise of promises) {
    const mine: Promise<void> = promise.then(() => void left.delete(mine))
    left.add(mine)
  }
  return left
}

function unavailable(missing: string[], known: OfferedTool[], troubles: Map<string, string>): ToolsUnavailable {
  const problems = missing.map((name) => `${name}${hint(name, known)}`)
  const because = [...troubles].map(([server, why]) => `. The server ${server} is not to be had: ${why}`).join('')
  return new ToolsUnavailable(`The agent wants tools that it cannot have: ${problems.join(', ')}${because}`)
}

function hint(name: string, known: OfferedTool[]): string {
  const meant = sharing(name.replace(/^__/, ''), known).map((tool) => tool.name)
  if (meant.length > 0) return ` (several servers have one; write ${meant.join(' or ')})`
  return didYouMean(
    nearest(
      name,
      known.map((tool) => tool.name),
    ),
  )
}
