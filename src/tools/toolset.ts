/** Which tools a run may call: decided once, when it starts, and held to whenever it calls one. */
import type { OfferedTool, Tool } from '../contract/tool.ts'
import type { Store } from '../store/store.ts'
import type { StoredTool } from '../store/tools/tools.ts'
import { chooseTools, named } from './choose-tools.ts'
import { repeatPolicy } from './repeat-policy.ts'
import type { EnvironmentRef, ServerFacts, Supervisor } from './supervisor/supervisor.ts'

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
  bind(offered: readonly OfferedTool[], wishes: Pick<ToolWishes, 'environment'>): Tool[]
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

  async function choose(environment: EnvironmentRef, wanted: readonly string[] | null): Promise<OfferedTool[]> {
    if (wanted !== null) {
      const { chosen, missing } = chooseTools(await available(environment), wanted)
      if (missing.length === 0) return chosen
    }
    await supervisor.hear(environment)
    const known = await available(environment)
    const { chosen, missing } = chooseTools(known, wanted)
    if (missing.length === 0) return chosen
    throw new ToolsUnavailable(whyMissing(missing, known, await supervisor.servers(environment)))
  }

  return {
    async offerTo({ environment: name, environment_id: id, tools, notify: wantsNotify }) {
      const wanted = tools && wantsNotify ? tools.filter((tool) => tool !== notify?.name) : tools
      const chosen = await choose({ id, name }, wanted)
      return wantsNotify && notify ? [...chosen, toPlain(notify)] : chosen
    },

    bind: (offered, { environment }) => offered.map((tool) => ({ ...tool, call: caller(tool, environment) })),
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

function toOffer({ name, own_name, server, description, ...tool }: StoredTool, facts: ServerFacts): OfferedTool {
  return {
    name,
    server,
    ...(own_name === name ? {} : { own_name }),
    description,
    input_schema: tool.input_schema as OfferedTool['input_schema'],
    repeat: repeatPolicy(facts, tool.annotations),
  }
}

const toPlain = ({ call: _, ...offered }: Tool): OfferedTool => offered

function whyMissing(missing: string[], known: OfferedTool[], servers: Map<string, ServerFacts>): string {
  const wants = missing.map((name) => {
    const meant = named(name.replace(/^__/, ''), known).map((tool) => tool.name)
    return meant.length > 0 ? `${name} (several servers have it: ${meant.join(', ')})` : name
  })
  const down = [...servers].flatMap(([name, { problem }]) => (problem ? [`${name} is down: ${problem}`] : []))
  const because = down.length > 0 ? `. ${down.join('. ')}` : ''
  return `The agent wants tools that its environment does not have: ${wants.join(', ')}${because}`
}
