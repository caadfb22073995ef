// The service as a process of its own with hostile servers in it: what it answers meanwhile, and how much memory it needs.
import { readFileSync } from 'node:fs'
import type { McpServer } from '../../../src/contract/mcp-server.ts'
import type { ToolAnswer } from '../../../src/contract/tool.ts'
import type { ToolRecord } from '../../../src/contract/tool-record.ts'
import { makeHome } from '../home.ts'
import { type ServiceProcess, startService } from '../service-process.ts'
import { serverFile } from '../tool-server/files.ts'

export interface AttackedService extends AsyncDisposable {
  home: string
  /** Makes these the servers of the default environment, and resolves with what is wrong with them. */
  serve(mcpServers: Record<string, object>): Promise<{ server?: string; message: string }[]>
  /** Calls a tool by the name of its server and its own. */
  call(server: string, tool: string, input?: object): Promise<ToolAnswer>
  server(name: string): Promise<McpServer | undefined>
  /** Milliseconds that an answer about its health takes. */
  health(): Promise<number>
  /** The most bytes that it ever had more than at its start. */
  peak(): number
  end: ServiceProcess['end']
}

/** How long calls that never end are waited for at the end of the service. */
const DRAIN_SECONDS = '1'
const LEAST_ANSWERS = 20

export async function startAttackedService(): Promise<AttackedService> {
  const { home, put, ...folder } = await makeHome()
  const service = await startService({ home, env: { SVC_DRAIN_SECONDS: DRAIN_SECONDS } })
  const usual = memoryOf(service.pid, 'VmRSS')
  const rest = async (method: string, path: string, body?: object) => {
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
    const response = await fetch(`${service.api}/api/v1${path}`, { method, ...init })
    return ((await response.json()) as { data: unknown }).data
  }
  const idOf = async (server: string, tool: string) => {
    const tools = (await rest('GET', `/tools?environment=default&server=${server}&limit=100`)) as ToolRecord[]
    const found = tools.find(({ name }) => name === tool || name === `${server}__${tool}`)
    if (!found) throw new Error(`${server} has no tool ${tool}, but ${tools.map(({ name }) => name)}`)
    return found.id
  }
  return {
    home,
    async serve(mcpServers) {
      await put('environments/default/servers.json', serverFile(mcpServers))
      return ((await rest('POST', '/environments/default/sync')) as { errors: { message: string }[] }).errors
    },
    call: async (server, tool, input = {}) =>
      (await rest('POST', `/tools/${await idOf(server, tool)}/call`, { arguments: input })) as ToolAnswer,
    async server(name) {
      const all = (await rest('GET', '/mcp-servers?environment=default')) as McpServer[]
      return all.find((one) => one.name === name)
    },
    async health() {
      const before = performance.now()
      await rest('GET', '/health')
      return performance.now() - before
    },
    peak: () => memoryOf(service.pid, 'VmHWM') - usual,
    end: service.end,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The slowest answer about the health of the service while the work goes on, of twenty at least. */
export async function slowestAnswerDuring(service: AttackedService, work: Promise<unknown>): Promise<number> {
  let isDone = false
  const over = () => {
    isDone = true
  }
  work.then(over, over)
  let slowest = 0
  for (let count = 0; count < LEAST_ANSWERS || !isDone; count++) slowest = Math.max(slowest, await service.health())
  return slowest
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
}
