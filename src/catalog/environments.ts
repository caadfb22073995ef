/** The environments, as the database knows them. */
import type { Environment } from '../contract/environment.ts'
import { AppError } from '../contract/errors.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import type { Store } from '../store/store.ts'

export interface Environments {
  get(name: string): Promise<Environment>
  /** By id or by name; names start with a letter and ids with a digit, so no reference means both. */
  getByReference(reference: string): Promise<Environment>
  list(page: PageRequest): Promise<Page<Environment>>
}

export function createEnvironments(store: Store): Environments {
  const get = async (name: string) => {
    const environment = await store.environments.find(name)
    if (!environment) throw new AppError('ENVIRONMENT_NOT_FOUND', `No environment named '${name}'`)
    return environment
  }
  return {
    get,
    async getByReference(reference) {
      if (!/^\d{1,15}$/.test(reference)) return get(reference)
      const environment = await store.environments.findById(Number(reference))
      if (!environment) throw new AppError('ENVIRONMENT_NOT_FOUND', `No environment with ID ${reference}`)
      return environment
    },
    list: (page) => store.environments.list(page),
  }
}
