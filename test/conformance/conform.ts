// Does what a scenario asks as the service would: through a server file, a sync and calls of the tools that were found.
import type { Json } from '../../src/contract/tool.ts'
import type { StoredTool } from '../../src/store/tools/tools.ts'
import type { SupervisorHouse } from '../support/supervisor-house.ts'
import { fittingArguments } from './fitting-arguments.ts'
import type { Complaints, Job, ToolCall } from './job.ts'

const SERVER = 'suite'

export async function conform(house: SupervisorHouse, job: Job): Promise<Complaints> {
  const { store, supervisor, environment } = house
  await house.servers({ [SERVER]: { url: job.url } })
  const errors = await supervisor.sync(environment, 'all')
  const tools = await store.tools.ofEnvironment(environment.id)
  const complaints = errors.length > 0 ? errors.map(({ message }) => message) : await callAll(house, tools, job)
  // The suite does not end before every connection to it has ended.
  await house.servers({})
  await supervisor.sync(environment, 'all')
  return complaints
}

async function callAll({ supervisor, environment }: SupervisorHouse, tools: StoredTool[], job: Job) {
  const complaints: Complaints = []
  for (const { name, arguments: input } of wantedCalls(tools, job)) {
    const known = tools.find((tool) => tool.own_name === name)
    const tool = { name, input_schema: (known?.input_schema ?? {}) as { [key: string]: Json } }
    const context = { key: '1:1', signal: new AbortController().signal }
    await supervisor
      .call({ environment: environment.name, server: SERVER, tool }, input, context)
      .catch((error: Error) => complaints.push(`${name}: ${error.message}`))
  }
  return complaints
}

/** What the scenario wants called and with what, else every tool once. */
function wantedCalls(tools: StoredTool[], { scenario, context }: Job): ToolCall[] {
  if (context.toolCalls) return context.toolCalls
  if (scenario === 'json-schema-2020-12-preservation') return [sendBackSchema(tools)]
  return tools.map((tool) => ({ name: tool.own_name, arguments: fittingArguments(tool.input_schema) }))
}

/** One scenario wants to see the schema of one tool as the argument of the other. */
function sendBackSchema(tools: StoredTool[]): ToolCall {
  const [echo, focal] = [tools.find(takesSchema), tools.find((tool) => !takesSchema(tool))]
  return { name: echo?.own_name ?? '', arguments: { schema: (focal?.input_schema ?? {}) as Json } }
}

const takesSchema = ({ input_schema }: StoredTool) => Object.hasOwn(Object(input_schema.properties), 'schema')
