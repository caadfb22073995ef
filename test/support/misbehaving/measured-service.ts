// A service process whose memory is watched while servers misbehave in it.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { makeHome } from '../home.ts'
import { startService } from '../service-process.ts'
import { toolServer } from '../tool-server/files.ts'
import { until } from '../until.ts'
import { GOOD_CALLS, type Place, tryOut } from './trial.ts'

export interface MeasuredService extends AsyncDisposable {
  home: string
  place(environment: string): Place
  /** Resolves once it needs hardly more memory than after its usual work, garbage aside. */
  settled(): Promise<void>
  /** The most bytes that it ever had more than after its usual work. */
  peak(): number
}

const ENTRY = fileURLToPath(new URL('collecting-service.ts', import.meta.url))
const MOST_GROWTH = 64 * 1024 * 1024
const SETTLES_MS = 20_000
const WARM_UP_RUNS = 5

export async function startMeasuredService(): Promise<MeasuredService> {
  const { home, put, ...folder } = await makeHome()
  const service = await startService({ home, entry: ENTRY })
  const rest: Place['rest'] = async (method, path, body) => {
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
    const response = await fetch(`${service.api}/api/v1${path}`, { method, ...init })
    return ((await response.json()) as { data: unknown }).data
  }
  const place = (environment: string): Place => ({
    ...{ home, environment, rest },
    put: (path, text) => put(`environments/${path}`, text),
  })
  await workAsUsual(place('calm'))
  const usual = memoryOf(service.pid, 'VmRSS')
  return {
    ...{ home, place },
    async settled() {
      await until(
        'it needs as much memory as before',
        async () => {
          process.kill(service.pid, 'SIGUSR2')
          await rest('GET', '/health')
          return memoryOf(service.pid, 'VmRSS') - usual <= MOST_GROWTH
        },
        SETTLES_MS,
      )
    },
    peak: () => memoryOf(service.pid, 'VmHWM') - usual,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function workAsUsual(place: Place): Promise<void> {
  const { entry } = await toolServer(place, 'usual', 'ok', 'fault')
  const { runOf } = await tryOut(place, { entry, connects: true, tool: 'fault' })
  for (let run = 0; run < WARM_UP_RUNS; run++) await runOf('call fine {}\n'.repeat(GOOD_CALLS))
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
}
