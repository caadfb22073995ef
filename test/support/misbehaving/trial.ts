// A server put to the test beside a good one, in an environment of its own: what a sync says about it, what a call of it
// comes to in a run, and what a run notices that has nothing to do with it.
import type { McpServer } from '../../../src/contract/mcp-server.ts'
import type { RunDetail, Step } from '../../../src/contract/run.ts'
import type { TestApp } from '../app.ts'
import { serverFile, toolServer } from '../tool-server/files.ts'
import { until } from '../until.ts'

export interface Place {
  home: string
  environment: string
  /** Writes a file below the environments folder. */
  put(path: string, text: string): Promise<void>
  /** Calls REST and resolves with the data. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is under test
  rest(method: string, path: string, body?: object): Promise<any>
}

export interface Trial {
  /** What the sync said about the bad server. */
  complaints: string[]
  /** Of an agent that calls the bad server between two good calls. */
  run: RunDetail
  /** The call of the bad server. */
  step: Step | undefined
  /** Of an agent that calls the good one twenty times meanwhile. */
  meanwhile: RunDetail
  /** Resolves once the bad server's good tool works. */
  recovered(): Promise<void>
  server(): Promise<McpServer>
  runOf(task: string, agent?: object): Promise<RunDetail>
}

interface Subject {
  /** As in a server file. */
  entry: object
  /** Whether it can be connected. */
  connects: boolean
  tool: string
}

export const TIMEOUT_MS = 2000
const LIMITS = { timeout_seconds: TIMEOUT_MS / 1000, connect_timeout_seconds: 3 }
export const GOOD_CALLS = 20
const GOOD_TASK = 'call fine {"ms": 20}\n'.repeat(GOOD_CALLS)

/** In the default environment of an app. */
export const placeIn = (app: TestApp): Place => ({
  home: app.home,
  environment: 'default',
  put: app.put,
  rest: async (method, path, body) => (await app.api(method, path, body)).body.data,
})

export async function tryOut(place: Place, { entry, connects, tool }: Subject): Promise<Trial> {
  const { environment, rest } = place
  const good = await toolServer(place, `good-${environment}`, 'fine')
  await place.put(`${environment}/servers.json`, serverFile({ bad: { ...LIMITS, ...entry }, good: good.entry }))
  const { errors } = await rest('POST', `/environments/${environment}/sync`)
  // On a busy machine a server may need a second start.
  if (connects) await until(`${tool} is listed`, async () => (await namesOf(place)).includes(tool))
  const runOf = createRuns(place)
  const task = `call fine {}\ncall ok {}\ncall ${tool} {}\ncall fine {}`
  const [run, meanwhile] = await Promise.all([runOf(task), runOf(GOOD_TASK)])
  return {
    complaints: errors.flatMap((one: { server?: string; message: string }) =>
      one.server === 'bad' ? [one.message] : [],
    ),
    ...{ run, meanwhile, runOf },
    step: run.steps.find((step) => step.type === 'tool' && step.name === tool),
    async recovered() {
      await until('its good tool works', async () => isFine(await runOf('call ok {}')))
    },
    server: async () =>
      (await rest('GET', `/mcp-servers?environment=${environment}`)).find(({ name }: McpServer) => name === 'bad'),
  }
}

function createRuns({ environment, rest }: Place): Trial['runOf'] {
  let agents = 0
  return async (task, agent = {}) => {
    const fields = { name: `agent-${++agents}`, prompt: 'Help.', environment_id: environment, ...agent }
    const { id } = await rest('POST', '/agents', fields)
    const { run_id } = await rest('POST', `/agents/${id}/run`, { task })
    return rest('GET', `/runs/${run_id}?wait=30`)
  }
}

const isFine = ({ steps }: RunDetail) => steps.every(({ status }) => status === 'completed')

export const namesOf = async ({ environment, rest }: Place): Promise<string[]> =>
  (await rest('GET', `/tools?environment=${environment}&server=bad&limit=100`)).map(
    ({ name }: { name: string }) => name,
  )
