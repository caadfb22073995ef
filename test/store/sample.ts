// Agents and stores as the store's tests need them, and how they look at a refusal.
import { type Agent, DEFAULT_DEFINITION, type Definition } from '../../src/contract/agent.ts'
import { AppError, type ErrorCode } from '../../src/contract/errors.ts'
import type { Page, PageRequest } from '../../src/contract/page.ts'
import type { Store } from '../../src/store/store.ts'

export const AT = Date.UTC(2026, 10, 15, 7, 30)

export const definition = (name: string, more: Partial<Definition> = {}): Definition => ({
  ...DEFAULT_DEFINITION,
  variables: [],
  name,
  prompt: `You are ${name}.`,
  ...more,
})

export async function createEnvironment(store: Store, name: string): Promise<number> {
  return (await store.write('ensureEnvironment', { name, at: AT })).id
}

export const createAgent = (store: Store, environmentId: number, name: string, more: Partial<Definition> = {}) =>
  store.write('createAgent', {
    ...{ environment_id: environmentId, definition: definition(name, more) },
    ...{ source: 'api', file: null, at: AT },
  })

export const removeAgent = (store: Store, id: number) => store.write('removeAgent', { id, at: AT })

interface Change {
  base: number
  definition: Definition
  at?: number
}

export const updateAgent = (store: Store, id: number, change: Change) =>
  store.write('updateAgent', {
    ...{ id, base_version: change.base, definition: change.definition },
    ...{ file: null, at: change.at ?? AT + 1 },
  })

/** 'ok', or the code of the refusal; whatever is no refusal of ours is thrown on. */
export async function outcome(promise: Promise<unknown>): Promise<'ok' | ErrorCode> {
  try {
    await promise
    return 'ok'
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

/** Every item of a list, page by page. */
export async function everyPage<T>(read: (page: PageRequest) => Promise<Page<T>>, limit = 100): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const { items, total } = await read({ page, limit })
    all.push(...items)
    if (items.length === 0 || all.length >= total) return all
  }
}

export const everyAgent = (store: Store, environment?: string): Promise<Agent[]> =>
  everyPage((page) => store.agents.list({ environment }, page))
