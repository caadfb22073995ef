/** Brings the catalog in line with the environment folders. One bad file or server never stops the rest. */
import type { Clock } from '../clock.ts'
import type { Environment, SyncError, SyncReport } from '../contract/environment.ts'
import { AppError } from '../contract/errors.ts'
import { isoTime } from '../contract/time.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Folders } from './folders.ts'
import type { OneAtATime } from './one-at-a-time.ts'
import { type Change, planSync } from './sync-plan.ts'

export interface Sync {
  /** Plans, and unless it is a dry run applies and records the result. A new folder becomes an environment. */
  one(environment: string, options: { dry_run: boolean }): Promise<SyncReport>
  /** Every environment folder; servers that have not changed are left alone. What goes wrong is in the log. */
  all(): Promise<void>
}

/** The tool servers of the environments; their part of a sync may take as long as a server takes to start. */
interface SyncedServers {
  sync(environment: { id: number; name: string }, which: 'changed' | 'all'): Promise<SyncError[]>
  check(environment: string): Promise<SyncError[]>
}

interface SyncParts {
  store: Store
  servers: SyncedServers
  folders: Folders
  clock: Clock
  log: Log
  oneAtATime: OneAtATime
}

export function createSync({ store, servers, folders, clock, log, oneAtATime }: SyncParts): Sync {
  async function sync(environment: string, { dry_run, which }: SyncWishes): Promise<SyncReport> {
    const { report, id } = await oneAtATime(environment, () => syncAgents(environment, dry_run))
    // Outside: who changes an agent meanwhile does not wait for servers to start.
    const hasFolder = await folders.has(environment)
    if (id === undefined) report.errors.push(...(hasFolder ? await servers.check(environment) : []))
    else {
      if (hasFolder) report.errors.push(...(await servers.sync({ id, name: environment }, which)))
      await record(id, report)
      for (const error of report.errors) log.warn({ environment, ...error }, 'sync: something was left out')
    }
    return report
  }

  async function syncAgents(environment: string, dryRun: boolean): Promise<{ report: SyncReport; id?: number }> {
    const known = await store.environments.find(environment)
    const report = emptyReport(dryRun)
    const changes = await plan(environment, known, report)
    if (dryRun) {
      for (const change of changes) note(change, environment, report)
      return { report }
    }
    const { id } = known ?? (await store.write('ensureEnvironment', { name: environment, at: clock.now() }))
    for (const change of changes) await carryOut(change, environment, Number(id), report)
    return { report, id: Number(id) }
  }

  /** What cannot be listed is in the report, and then nothing is to be changed. */
  async function plan(environment: string, known: Environment | undefined, report: SyncReport): Promise<Change[]> {
    if (!(await folders.has(environment))) {
      if (!known) throw environmentNotFound(environment)
      report.errors.push({ file: environment, message: 'the folder is missing, so nothing was changed' })
      return []
    }
    const prompts = await folders.prompts(environment)
    if ('error' in prompts) {
      report.errors.push({ file: `${environment}/agents`, message: prompts.error })
      return []
    }
    return planSync(prompts, known ? await store.agents.ofEnvironment(Number(known.id)) : [])
  }

  async function carryOut(change: Change, environment: string, environmentId: number, report: SyncReport) {
    try {
      await apply(change, environmentId)
      note(change, environment, report)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'STORAGE_UNAVAILABLE') throw error
      report.errors.push({ file: promptPath(environment, fileOf(change)), message: error.message })
    }
  }

  async function apply(change: Change, environment_id: number): Promise<void> {
    const at = clock.now()
    switch (change.kind) {
      case 'create': {
        const { definition, file } = change
        await store.write('createAgent', { environment_id, definition, source: 'file', file, at })
        return
      }
      case 'update': {
        const { definition, file, known } = change
        const { id, version } = known.agent
        await store.write('updateAgent', { id, base_version: version, definition, file, at })
        return
      }
      case 'keep':
        if (change.file !== change.known.file) {
          await store.write('relocateAgent', { id: change.known.agent.id, file: change.file })
        }
        return
      case 'remove':
        await store.write('removeAgent', { id: change.known.agent.id, at })
        return
      case 'refuse':
        return
    }
  }

  const record = (id: number, report: SyncReport) =>
    store.write('recordSync', {
      id,
      last_sync: {
        status: report.errors.length > 0 ? 'error' : 'ok',
        at: isoTime(clock.now()),
        changes: report.created.length + report.updated.length + report.removed.length,
        errors: report.errors,
      },
    })

  return {
    one: (environment, { dry_run }) => sync(environment, { dry_run, which: 'all' }),

    async all() {
      await Promise.all(
        (await folders.environments()).map(async (environment) => {
          try {
            await sync(environment, { dry_run: false, which: 'changed' })
          } catch (error) {
            log.error({ environment, err: error }, 'sync: the environment was left out')
          }
        }),
      )
    },
  }
}

interface SyncWishes {
  dry_run: boolean
  /** Which servers to connect: those that the files have changed, or all. */
  which: 'changed' | 'all'
}

const environmentNotFound = (name: string): AppError =>
  new AppError('ENVIRONMENT_NOT_FOUND', `No environment named '${name}', and no folder of that name to sync`)

const emptyReport = (dry_run: boolean): SyncReport => ({
  dry_run,
  created: [],
  updated: [],
  removed: [],
  unchanged: [],
  errors: [],
})

function note(change: Change, environment: string, report: SyncReport): void {
  switch (change.kind) {
    case 'create':
      report.created.push(change.definition.name)
      return
    case 'update':
      report.updated.push(change.definition.name)
      return
    case 'keep':
      report.unchanged.push(change.definition.name)
      return
    case 'remove':
      report.removed.push(change.known.agent.name)
      return
    case 'refuse':
      report.errors.push({ file: promptPath(environment, change.file), message: change.message } satisfies SyncError)
      return
  }
}

const fileOf = (change: Change) => ('file' in change ? change.file : (change.known.file ?? ''))

const promptPath = (environment: string, file: string) => `${environment}/agents/${file}`
